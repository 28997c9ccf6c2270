import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IpvsWrite, VirtualServer } from '../../../linux/ipvs/ipvs-model.ts';
import { ExpectedPrint } from './expected-print.ts';
import { MemoryIpvs } from './testing/memory-ipvs.ts';

const server: VirtualServer = {
  protocol: 'TCP',
  address: '10.96.0.1',
  port: 80,
  scheduler: 'rr',
  schedulerFlags: [],
  persistenceSeconds: 0,
};
const destination = { address: '10.244.1.1', port: 8080, weight: 1 };
const ADD: readonly IpvsWrite[] = [
  { do: 'add-server', server },
  { do: 'add-destination', server, destination },
];

async function believed() {
  const ipvs = new MemoryIpvs();
  const print = new ExpectedPrint();
  assert.equal(print.isForeign(await ipvs.fingerprint()), false);
  await print.during(ipvs, ADD);
  return { ipvs, print };
}

test('believes what its own writes lead to, rejected ones aside', async () => {
  const { ipvs, print } = await believed();
  await print.during(ipvs, ADD);
  assert.equal(print.isForeign(await ipvs.fingerprint()), false);
  await print.during(ipvs, [{ do: 'delete-destination', server, destination }]);
  assert.equal(print.isForeign(await ipvs.fingerprint()), false);
});

test('finds a changed weight when nothing was written since the last fingerprint', async () => {
  const { ipvs, print } = await believed();
  assert.equal(print.isForeign(await ipvs.fingerprint()), false);
  await ipvs.write([{ do: 'set-destination', server, destination: { ...destination, weight: 5 } }]);
  assert.equal(print.isForeign(await ipvs.fingerprint()), true);
});

test('finds that everything was deleted although it wrote since', async () => {
  const { ipvs, print } = await believed();
  ipvs.held.clear();
  await print.during(ipvs, [{ do: 'add-server', server: { ...server, port: 81 } }]);
  assert.equal(print.isForeign(await ipvs.fingerprint()), true);
});

test('finds a changed begin once', async () => {
  const { ipvs, print } = await believed();
  assert.equal(print.isForeignBegin(await ipvs.fingerprint()), false);
  await ipvs.write([{ do: 'set-destination', server, destination: { ...destination, weight: 5 } }]);
  assert.equal(print.isForeignBegin(await ipvs.fingerprint()), true);
  assert.equal(print.isForeignBegin(await ipvs.fingerprint()), false);
});

test('finds that the begin is empty although it wrote since', async () => {
  const { ipvs, print } = await believed();
  ipvs.held.clear();
  assert.equal(print.isForeignBegin(await ipvs.fingerprint()), true);
});
