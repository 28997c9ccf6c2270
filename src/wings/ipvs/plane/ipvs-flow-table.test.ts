import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBytes, addressText } from '../../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../../linux/conntrack/conntrack.ts';
import { PROTOCOL_TCP, PROTOCOL_UDP } from '../../../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../../../linux/conntrack/flow.ts';
import type { FlowQuestion } from '../../../linux/conntrack/question.ts';
import { newFlow } from '../../../linux/conntrack/testing/insert.ts';
import type { VirtualServer } from '../../../linux/ipvs/ipvs-model.ts';
import { IpvsFlows } from './ipvs-flow-table.ts';
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

const TO_SERVER = {
  protocols: new Set([PROTOCOL_UDP]),
  destinationPorts: new Set([53]),
};
const signal = new AbortController().signal;

test('lists and deletes UDP flows of IPVS that conntrack has forgotten', async () => {
  const { ipvs, capture, flows } = await stage();
  capture.servers.set(ID, SERVER);
  ipvs.connect(ID, '10.244.1.2 5353', 1);
  const listed = (await Array.fromAsync(flows.flows(TO_SERVER, signal))).flat();
  assert.deepEqual(
    listed.map(({ original, reply }) => [
      addressText(original.destination),
      original.destinationPort,
      addressText(reply.source),
      reply.sourcePort,
    ]),
    [['10.96.0.1', 53, '10.244.1.2', 5353]],
  );
  assert.deepEqual(await flows.remove(listed), listed);
  assert.deepEqual(left(ipvs), ['10.244.1.1 5353']);
});

test('asks for one virtual server by its address, and for none where TCP is asked', async () => {
  const { ipvs, flows } = await stage();
  ipvs.connect(ID, '10.244.1.2 5353', 1);
  const destination = addressBytes('10.96.0.1');
  assert.ok(destination);
  const filter = { version: 4, protocol: PROTOCOL_UDP, destination, destinationPort: 53 } as const;
  const listed = async (question: FlowQuestion) =>
    (await Array.fromAsync(flows.flows(question, signal))).flat().length;
  assert.equal(await listed({ ...TO_SERVER, filter }), 1);
  // It is not one of ours, which only their list tells.
  assert.equal(await listed(TO_SERVER), 0);
  const found = (await Array.fromAsync(flows.flows({ ...TO_SERVER, filter }, signal))).flat();
  assert.deepEqual(await flows.remove(found), []);
  const protocols = new Set([PROTOCOL_TCP]);
  assert.equal(await listed({ ...TO_SERVER, protocols, filter }), 0);
});

test('lists no destination that serves, and none without a connection', async () => {
  const { ipvs, capture, flows } = await stage();
  capture.servers.set(ID, SERVER);
  ipvs.connect(ID, '10.244.1.1 5353', 1);
  assert.deepEqual(await Array.fromAsync(flows.flows(TO_SERVER, signal)), []);
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
