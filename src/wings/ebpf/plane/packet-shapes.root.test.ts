import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KernelConntrack } from '../../../linux/conntrack/conntrack.ts';
import { ip, run } from '../../../linux/netlink/testing/own-namespace.ts';
import {
  EXTENSION,
  type Extension,
  fragmentExtension,
  ipv4Packet,
  ipv6Packet,
  type PortEnds,
  PROTOCOL,
  TCP_FLAG,
  tcpSegment,
  udpDatagram,
} from '../../../linux/testing/packets/build.ts';
import { openTun, type Tun } from '../../../linux/testing/packets/tun.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { bring, connectionsOf } from './testing/bring.ts';
import { frontendAt, serviceOf } from './testing/ebpf-service.ts';
import { addNatChains, type NodeNetwork, nodeNetwork } from './testing/node-network.ts';
import { packetPlane } from './testing/packet-plane.ts';

let network: NodeNetwork;
let plane: HooksPlane;
let wire: Tun;
let frames: Tun;

const IPV4 = { source: '10.244.9.10', destination: '10.96.0.1', destinationPort: 80 };
const IPV6 = { source: 'fd44:9::10', destination: 'fd96::1', destinationPort: 80 };
const ANSWER_MS = 3000;

before(async () => {
  network = await nodeNetwork('packet-shapes');
  addNatChains();
  wire = openTun('tun0', 'tun');
  frames = openTun('tap0', 'tap');
  ip('link set tun0 up', 'link set tap0 up', 'addr add 10.244.8.1/24 dev tap0');
  ip('route add 10.244.9.0/24 dev tun0', 'route add fd44:9::/64 dev tun0');
  plane = packetPlane(network);
  const [endpoint] = network.endpoints;
  const of = { frontends: [frontendAt('10.96.0.1')], endpoints: [endpoint?.ipv4 ?? ''] };
  const six = { frontends: [frontendAt('fd96::1')], endpoints: [endpoint?.ipv6 ?? ''] };
  await bring(plane, [
    serviceOf('web', of),
    serviceOf('dns', { ...of, protocol: 'UDP' }),
    serviceOf('web', six),
    serviceOf('dns', { ...six, protocol: 'UDP' }),
  ]);
});

after(async () => {
  await plane.remove();
  wire.close();
  frames.close();
  network.leave();
});

let nextPort = 50_000;

/** A port that no packet came from yet. */
function freshPort<T extends object>(ends: T): T & { sourcePort: number } {
  nextPort += 1;
  return { ...ends, sourcePort: nextPort };
}

/** How many endpoints the program chooses while this goes on. */
async function chosenBy(act: () => Promise<void> | void): Promise<number> {
  const before = await connectionsOf(plane);
  await act();
  return (await connectionsOf(plane)) - before;
}

/** The text of the answer that comes back to this port from the address that was asked. */
async function udpAnswer({ sourcePort, destination }: PortEnds): Promise<string> {
  const header = destination.includes(':') ? 40 : 20;
  const port = Buffer.alloc(2);
  port.writeUInt16BE(sourcePort);
  const isIt = (packet: Buffer): boolean => packet.subarray(header + 2, header + 4).equals(port);
  const packet = await wire.receive(isIt, ANSWER_MS);
  return packet?.subarray(header + 8).toString('latin1') ?? 'no answer';
}

test('parses packets without an Ethernet header', async () => {
  const four = freshPort(IPV4);
  const six = freshPort(IPV6);
  const data = Buffer.from('hello');
  const chosen = await chosenBy(async () => {
    wire.send(ipv4Packet(four, PROTOCOL.udp, { payload: udpDatagram(four, data) }));
    assert.equal(await udpAnswer(four), `e1 10.244.9.10 ${four.sourcePort} 5`);
    wire.send(ipv6Packet(six, PROTOCOL.udp, { payload: udpDatagram(six, data) }));
    assert.equal(await udpAnswer(six), `e1 fd44:9::10 ${six.sourcePort} 5`);
  });
  assert.equal(chosen, 2);
});

const CHAINS: Readonly<Record<string, readonly Extension[]>> = {
  'destination options': [EXTENSION.destination],
  'hop by hop': [EXTENSION.hopByHop],
  'a route that has been gone': [EXTENSION.routing],
  'three of them': [EXTENSION.hopByHop, EXTENSION.routing, EXTENSION.destination],
};

for (const [name, extensions] of Object.entries(CHAINS)) {
  test(`IPv6 with extension headers: ${name}`, async () => {
    const ends = freshPort(IPV6);
    const payload = udpDatagram(ends, Buffer.from('hello'));
    const chosen = await chosenBy(async () => {
      wire.send(ipv6Packet(ends, PROTOCOL.udp, { payload, extensions }));
      assert.equal(await udpAnswer(ends), `e1 fd44:9::10 ${ends.sourcePort} 5`);
    });
    assert.equal(chosen, 1);
  });
}

test('passes packets with unusual extension headers, and packets that are cut short', async () => {
  const ends = freshPort(IPV6);
  const payload = udpDatagram(ends, Buffer.from('hello'));
  const extensions = Array.from({ length: 7 }, () => EXTENSION.destination);
  const whole = ipv4Packet(freshPort(IPV4), PROTOCOL.udp, { payload: Buffer.alloc(0) });
  const cut = ipv6Packet(ends, EXTENSION.destination.number, { payload: Buffer.of(PROTOCOL.udp) });
  const chosen = await chosenBy(() => {
    wire.send(ipv6Packet(ends, PROTOCOL.udp, { payload, extensions }));
    wire.send(cut);
    wire.send(whole);
  });
  assert.equal(chosen, 0);
});

/** Wherever it is cut, the following bytes look like ports that are served. */
const LARGE = Buffer.alloc(2000, Buffer.of(0, 80));
const CUT_AT = 1024;

for (const order of [
  [0, 1],
  [1, 0],
]) {
  test(`a datagram in fragments, ${order[0] === 0 ? 'in order' : 'the last one first'}`, async () => {
    const four = freshPort(IPV4);
    const six = freshPort(IPV6);
    const chosen = await chosenBy(async () => {
      for (const at of order) wire.send(ipv4Fragments(four)[at] ?? Buffer.alloc(0));
      assert.equal(await udpAnswer(four), `e1 10.244.9.10 ${four.sourcePort} 2000`);
      for (const at of order) wire.send(ipv6Fragments(six)[at] ?? Buffer.alloc(0));
      assert.equal(await udpAnswer(six), `e1 fd44:9::10 ${six.sourcePort} 2000`);
    });
    assert.equal(chosen, 2);
  });
}

function ipv4Fragments(ends: PortEnds): Buffer[] {
  const datagram = udpDatagram(ends, LARGE);
  return [
    { payload: datagram.subarray(0, CUT_AT), fragment: { offset: 0, more: true } },
    { payload: datagram.subarray(CUT_AT), fragment: { offset: CUT_AT / 8, more: false } },
  ].map((fragment) => ipv4Packet(ends, PROTOCOL.udp, fragment));
}

function ipv6Fragments(ends: PortEnds): Buffer[] {
  const datagram = udpDatagram(ends, LARGE);
  return [
    { payload: datagram.subarray(0, CUT_AT), extensions: [fragmentExtension(0, true)] },
    { payload: datagram.subarray(CUT_AT), extensions: [fragmentExtension(CUT_AT / 8, false)] },
  ].map((fragment) => ipv6Packet(ends, PROTOCOL.udp, fragment));
}

const { syn, ack, fin, rst, ece, cwr } = TCP_FLAG;

test('decides only on a packet that opens a connection', async () => {
  const send = (ends: typeof IPV4 | typeof IPV6, flags: number): void => {
    const from = freshPort(ends);
    const payload = tcpSegment(from, flags);
    const write = ends === IPV4 ? ipv4Packet : ipv6Packet;
    wire.send(write(from, PROTOCOL.tcp, { payload }));
  };
  for (const ends of [IPV4, IPV6]) {
    const strays = await chosenBy(() => {
      for (const flags of [ack, syn | ack, fin | ack, rst, 0]) send(ends, flags);
    });
    assert.equal(strays, 0);
  }
  assert.deepEqual(await translatedFlows(), []);
  for (const ends of [IPV4, IPV6]) {
    const opened = await chosenBy(() => {
      for (const flags of [syn, syn | ece | cwr]) send(ends, flags);
    });
    assert.equal(opened, 2);
  }
  assert.equal((await translatedFlows()).length, 4);
});

const DESTINATION_TRANSLATED = 1 << 5;

async function translatedFlows(): Promise<unknown[]> {
  const question = { protocols: new Set<number>([PROTOCOL.tcp]), destinationPorts: new Set([80]) };
  const signal = AbortSignal.timeout(10_000);
  const all = await Array.fromAsync(new KernelConntrack().flows(question, signal));
  return all.flat().filter(({ status }) => (status & DESTINATION_TRANSLATED) !== 0);
}

test('leaves a frame with a VLAN tag to the interface of that VLAN', async () => {
  const [link] = JSON.parse(run(['ip', '-j', 'link', 'show', 'tap0'])) as [{ address: string }];
  const to = Buffer.from(link.address.replaceAll(':', ''), 'hex');
  const from = Buffer.from('020000000001', 'hex');
  const frame = (type: string): Buffer => {
    const ends = freshPort({ ...IPV4, source: '10.244.8.10' });
    const payload = udpDatagram(ends, Buffer.from('hello'));
    const packet = ipv4Packet(ends, PROTOCOL.udp, { payload });
    return Buffer.concat([to, from, Buffer.from(type, 'hex'), packet]);
  };
  assert.equal(await chosenBy(() => frames.send(frame('810000050800'))), 0);
  assert.equal(await chosenBy(() => frames.send(frame('0800'))), 1);
});
