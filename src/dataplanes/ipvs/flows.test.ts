import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { PROTOCOL_TCP, PROTOCOL_UDP } from '../../linux/conntrack/protocol.ts';
import { newFlow } from '../../linux/conntrack/testing/insert.ts';
import type { VirtualServer } from '../../linux/ipvs/model.ts';
import { IpvsFlows } from './flows.ts';
import { MemoryCapture } from './testing/memory-capture.ts';
import { MemoryIpvs } from './testing/memory-ipvs.ts';

const SERVER: VirtualServer = {
  ...{ protocol: 'UDP', address: '10.96.0.1', port: 53, persistenceSeconds: 0 },
  ...{ scheduler: 'rr', schedulerFlags: [] },
};
const ID = '10.96.0.1 UDP 53';
const REST = { status: 0, id: 1, zone: 0, mark: 0, timeoutSeconds: 30, tcpState: undefined };
const FLOW: Flow = {
  ...newFlow({
    protocol: PROTOCOL_UDP,
    client: ['10.244.1.9', 4000],
    destination: ['10.96.0.1', 53],
    answeredBy: ['10.244.1.2', 5353],
  }),
  ...REST,
};

/** Conntrack that has nothing left to be asked. */
const NO_ENTRIES: Conntrack = {
  filtersCheaply: () => true,
  flows: async function* () {
    yield* [];
  },
  remove: async (flows) => flows,
};

async function stage(): Promise<{ ipvs: MemoryIpvs; capture: MemoryCapture; flows: IpvsFlows }> {
  const ipvs = new MemoryIpvs();
  const capture = new MemoryCapture();
  const destination = (host: number, weight: number) => ({
    do: 'add-destination' as const,
    server: SERVER,
    destination: { address: `10.244.1.${host}`, port: 5353, weight },
  });
  await ipvs.write([{ do: 'add-server', server: SERVER }, destination(1, 1), destination(2, 0)]);
  return { ipvs, capture, flows: new IpvsFlows({ conntrack: NO_ENTRIES, ipvs, capture }) };
}

function left({ held }: MemoryIpvs): string[] {
  return [...(held.get(ID)?.destinations.keys() ?? [])];
}

test('deletes the destination of a UDP flow whose endpoint is gone', async () => {
  const { ipvs, capture, flows } = await stage();
  capture.servers.set(ID, SERVER);
  assert.deepEqual(await flows.remove([FLOW]), [FLOW]);
  assert.deepEqual(left(ipvs), ['10.244.1.1 5353']);
});

test('deletes no destination of a virtual server of another process', async () => {
  const { ipvs, flows } = await stage();
  assert.deepEqual(await flows.remove([FLOW]), [FLOW]);
  assert.deepEqual(left(ipvs), ['10.244.1.1 5353', '10.244.1.2 5353']);
});

test('keeps a destination that serves, although a flow to it is removed', async () => {
  const { ipvs, capture, flows } = await stage();
  capture.servers.set(ID, SERVER);
  const serving = newFlow({
    protocol: PROTOCOL_UDP,
    client: ['10.244.1.9', 4000],
    destination: ['10.96.0.1', 53],
    answeredBy: ['10.244.1.1', 5353],
  });
  await flows.remove([{ ...serving, ...REST }]);
  assert.deepEqual(left(ipvs), ['10.244.1.1 5353', '10.244.1.2 5353']);
});

test('keeps destinations of weight 0 that no removed flow went to', async () => {
  const { ipvs, capture, flows } = await stage();
  capture.servers.set(ID, SERVER);
  const destination = { address: '10.244.1.3', port: 5353, weight: 0 };
  await ipvs.write([{ do: 'add-destination', server: SERVER, destination }]);
  await flows.remove([FLOW]);
  assert.deepEqual(left(ipvs), ['10.244.1.1 5353', '10.244.1.3 5353']);
});

test('keeps the destinations of TCP connections', async () => {
  const { ipvs, capture, flows } = await stage();
  capture.servers.set(ID, SERVER);
  await flows.remove([{ ...FLOW, protocol: PROTOCOL_TCP }]);
  assert.deepEqual(left(ipvs), ['10.244.1.1 5353', '10.244.1.2 5353']);
});
