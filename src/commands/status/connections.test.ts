import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { addressBytes } from '../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow, FlowTuple } from '../../linux/conntrack/flow.ts';
import { NetlinkError } from '../../linux/netlink/errors.ts';
import { connectionsView } from './connections-view.ts';
import { readConnections } from './read-connections.ts';
import type { ServedFrontend } from './served-frontends.ts';

const WEB = { service: 'shop/web:http', protocol: 'TCP', family: 'IPv4' } as const;
const FRONTENDS: readonly ServedFrontend[] = [
  { ...WEB, address: '10.96.0.1', port: 80 },
  { ...WEB, port: 30_080 },
  { ...WEB, family: 'IPv6', address: 'fd00:96::1', port: 80 },
  { service: 'shop/dns', protocol: 'UDP', family: 'IPv4', address: '10.96.0.2', port: 53 },
];

type Place = readonly [address: string, port: number];

function tuple([source, sourcePort]: Place, [destination, destinationPort]: Place): FlowTuple {
  const bytes = (text: string): string => addressBytes(text) ?? '';
  return { source: bytes(source), sourcePort, destination: bytes(destination), destinationPort };
}

function flow(from: Place, to: Place, answeredBy: Place): Flow {
  const isUdp = to[1] === 53;
  return {
    version: from[0].includes(':') ? 6 : 4,
    protocol: isUdp ? 17 : 6,
    original: tuple(from, to),
    reply: tuple(answeredBy, from),
    status: 0,
    id: 1,
    zone: 0,
    mark: 0,
    timeoutSeconds: isUdp ? 30 : 86_400,
    tcpState: isUdp ? undefined : 3,
  };
}

/** A kernel with these flows, some of them not requested. */
function kernel(flows: readonly Flow[]): Conntrack {
  return {
    filtersCheaply: () => false,
    async *flows() {
      for (const each of flows) yield [each];
    },
    remove: () => Promise.reject(new Error('nothing is to be removed')),
  };
}

const FLOWS = [
  flow(['10.1.0.9', 4000], ['10.96.0.1', 80], ['10.244.0.7', 8080]),
  flow(['10.1.0.8', 4001], ['10.96.0.1', 80], ['10.244.0.8', 8080]),
  flow(['192.168.7.7', 5000], ['172.30.1.1', 30_080], ['10.244.0.7', 8080]),
  flow(['10.1.0.8', 4002], ['10.96.0.2', 53], ['10.244.0.9', 5353]),
  // To an address of its own, by a foreign rule, and without translation.
  flow(['10.1.0.8', 4003], ['10.0.0.1', 80], ['10.244.0.9', 80]),
  flow(['10.1.0.8', 4004], ['10.96.0.1', 80], ['10.96.0.1', 80]),
];

const NOW = { nowMs: 1_000_000, signal: new AbortController().signal };
const ALL = { most: 100, mode: 'nftables' };

async function shown(flows: readonly Flow[], more: { service?: string; most?: number } = {}) {
  return await readConnections(
    FRONTENDS,
    { ...ALL, ...more },
    { conntrack: kernel(flows), ...NOW },
  );
}

describe('translated connections', () => {
  it('are those of Services, with client, Service address and endpoint', async () => {
    const { connections, count } = await shown(FLOWS);
    assert.deepEqual(
      connections.map((each) => [
        each.service,
        each.client,
        each.address,
        each.endpoint,
        each.state,
      ]),
      [
        ['shop/dns', '10.1.0.8:4002', '10.96.0.2:53', '10.244.0.9:5353', 'UNREPLIED'],
        ['shop/web:http', '10.1.0.8:4001', '10.96.0.1:80', '10.244.0.8:8080', 'ESTABLISHED'],
        ['shop/web:http', '10.1.0.9:4000', '10.96.0.1:80', '10.244.0.7:8080', 'ESTABLISHED'],
        ['shop/web:http', '192.168.7.7:5000', '172.30.1.1:30080', '10.244.0.7:8080', 'ESTABLISHED'],
      ],
    );
    assert.equal(count, 4);
  });

  it('are the first in order when there are more than requested', async () => {
    const { connections, count } = await shown(FLOWS.toReversed(), { most: 1 });
    assert.deepEqual([connections.map(({ service }) => service), count], [['shop/dns'], 4]);
  });

  it('of one Service are all of its ports, and of an unknown one an error', async () => {
    for (const service of ['shop/web', 'shop/web:http']) {
      assert.equal((await shown(FLOWS, { service })).count, 3);
    }
    await assert.rejects(shown(FLOWS, { service: 'shop/we' }), { code: 'SERVICE_UNKNOWN' });
  });

  it('have an age where the kernel keeps one', async () => {
    const aged = { ...flow(['10.1.0.9', 1], ['10.96.0.1', 80], ['10.244.0.7', 80]) };
    const { connections } = await shown([{ ...aged, startedAtMs: 940_000 }]);
    assert.equal(connections[0]?.ageSeconds, 60);
  });

  it('cannot be read without privileges, which is reported with the next step', async () => {
    const conntrack: Conntrack = {
      ...kernel([]),
      // biome-ignore lint/correctness/useYield: it fails before there is anything.
      async *flows() {
        throw new NetlinkError('list conntrack entries', { errno: 1 });
      },
    };
    const reading = readConnections(FRONTENDS, ALL, { conntrack, ...NOW });
    await assert.rejects(reading, { code: 'NOT_PERMITTED', next: /sudo/ });
  });
});

describe('the list of connections', () => {
  const lines = async (flows: readonly Flow[], more: { most?: number } = {}): Promise<string[]> =>
    stripVTControlCharacters(connectionsView(await shown(flows, more), 80)).split('\n');

  it('is grouped by Service address', async () => {
    assert.deepEqual((await lines(FLOWS, { most: 3 })).slice(0, 12), [
      '4 translated connections in conntrack',
      '',
      'shop/dns  UDP 10.96.0.2:53',
      '  CLIENT         ENDPOINT         STATE      EXPIRES IN',
      '  10.1.0.8:4002  10.244.0.9:5353  UNREPLIED  30 s',
      '',
      'shop/web:http  TCP 10.96.0.1:80',
      '  CLIENT         ENDPOINT         STATE        EXPIRES IN',
      '  10.1.0.8:4001  10.244.0.8:8080  ESTABLISHED  24 h',
      '  10.1.0.9:4000  10.244.0.7:8080  ESTABLISHED  24 h',
      '',
      'and 1 more: --all shows them',
    ]);
  });

  it('fits 80 columns with the longest addresses of either family', async () => {
    const long = (last: string): Place => [`fd12:3456:789a:bcde:f012:3456:789a:${last}`, 65_535];
    const widest = [
      flow(long('bcde'), ['fd00:96::1', 80], long('f012')),
      flow(['255.255.255.254', 65_535], ['10.96.0.1', 80], ['255.255.255.253', 65_534]),
    ];
    const text = await lines(widest);
    for (const line of text) assert.ok(line.length <= 80, line);
    assert.ok(text.includes('  > [fd12:3456:789a:bcde:f012:3456:789a:f012]:65535'));
  });

  it('names the connections without an entry in the eBPF modes', async () => {
    const reading = { conntrack: kernel([]), ...NOW };
    const { unseen } = await readConnections(FRONTENDS, { ...ALL, mode: 'socket-ebpf' }, reading);
    assert.match(unseen ?? '', /no translated conntrack entry/);
  });
});
