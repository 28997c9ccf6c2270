import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { PlaneError } from '../../dataplanes/contract.ts';
import { addressBytes } from '../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import type { Flow, FlowTuple } from '../../linux/conntrack/flow.ts';
import { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import type { CopiedConnections, WireConnection } from '../../modes/copied-connections.ts';
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

const NOW = { unseen: undefined, nowMs: 1_000_000, signal: new AbortController().signal };
const ALL = { most: 100 };

async function shown(flows: readonly Flow[], more: { service?: string; most?: number } = {}) {
  return await readConnections(
    FRONTENDS,
    { ...ALL, ...more },
    { conntrack: kernel(flows), ...NOW },
  );
}

const OPEN: WireConnection = {
  row: 'shop/web:http/TCP/IPv4',
  client: '10.1.0.9 4000',
  frontend: '10.96.0.1 80',
  source: '10.1.0.9 10240',
  endpoint: '10.244.0.7 8080',
  state: 'open',
  ageMs: 12_400,
  bytesToEndpoint: 1_234,
  bytesToClient: 48_000_000,
};

const FORWARDER_ADDRESS = '169.254.118.118';

/** Answers like a forwarder with these connections. */
function forwarderWith(all: readonly WireConnection[] | undefined) {
  const read: CopiedConnections['read'] = async ({ most }) => {
    return all && { first: all.slice(0, most), count: all.length };
  };
  return { copied: { addresses: [FORWARDER_ADDRESS], read }, runFolder: '/run/fairlead' };
}

async function shownOf(
  all: readonly WireConnection[] | undefined,
  more: { service?: string; most?: number; flows?: readonly Flow[] } = {},
) {
  const { flows = [], ...wanted } = more;
  const sources = { conntrack: kernel(flows), forwarder: forwarderWith(all), ...NOW };
  return await readConnections(FRONTENDS, { ...ALL, ...wanted }, sources);
}

describe('connections of a forwarder', () => {
  it('have all four addresses, bytes each way, age and state', async () => {
    const { copied } = await shownOf([OPEN]);
    assert.deepEqual(copied, {
      count: 1,
      connections: [
        {
          service: 'shop/web:http',
          protocol: 'TCP',
          client: '10.1.0.9:4000',
          address: '10.96.0.1:80',
          source: '10.1.0.9:10240',
          endpoint: '10.244.0.7:8080',
          state: 'open',
          ageSeconds: 12,
          bytesToEndpoint: 1_234,
          bytesToClient: 48_000_000,
        },
      ],
    });
  });

  it('are not shown again as the conntrack entries that hand them over', async () => {
    const handedOver = flow(['10.1.0.9', 4000], ['10.96.0.1', 80], [FORWARDER_ADDRESS, 40_001]);
    const { connections, count } = await shownOf([OPEN], { flows: [handedOver, ...FLOWS] });
    assert.equal(count, 4);
    assert.ok(connections.every(({ endpoint }) => !endpoint.startsWith(FORWARDER_ADDRESS)));
  });

  it('of one Service are found behind any number of others', async () => {
    const other = { ...OPEN, row: 'shop/cart/TCP/IPv4' };
    const { copied } = await shownOf([other, other, OPEN], { service: 'shop/web', most: 1 });
    assert.deepEqual(
      copied?.connections.map(({ service }) => service),
      ['shop/web:http'],
    );
    assert.equal(copied?.count, 1);
  });

  it('share the number to show with those of the kernel', async () => {
    const { copied, connections, count } = await shownOf([OPEN, OPEN], { most: 3, flows: FLOWS });
    assert.deepEqual([copied?.connections.length, connections.length, count], [2, 1, 4]);
  });

  it('are none without a forwarder, and those of the kernel are shown', async () => {
    const { copied, count } = await shownOf(undefined, { flows: FLOWS });
    assert.deepEqual([copied, count], [{ connections: [], count: 0 }, 4]);
  });

  it('that cannot be read are named, and those of the kernel are shown', async () => {
    const read: CopiedConnections['read'] = async () => {
      throw new PlaneError('it did not answer', { code: 'FORWARDER_SILENT', next: 'wait' });
    };
    const forwarder = { copied: { addresses: [], read }, runFolder: '/run/fairlead' };
    const sources = { conntrack: kernel(FLOWS), forwarder, ...NOW };
    const shown = await readConnections(FRONTENDS, ALL, sources);
    const [first, second] = stripVTControlCharacters(connectionsView(shown, 80)).split('\n');
    assert.equal(first, 'connections of the forwarder are not listed: it did not answer');
    assert.equal(second, '4 connections translated by the kernel');
  });

  it('are listed with the Service address above, before those of the kernel', async () => {
    const dialling = { ...OPEN, client: '10.1.0.9 4001', source: '', state: 'dialling' } as const;
    const shown = await shownOf([OPEN, dialling], { flows: FLOWS.slice(3, 4) });
    assert.deepEqual(stripVTControlCharacters(connectionsView(shown, 100)).split('\n'), [
      '2 connections copied by the forwarder, 1 translated by the kernel',
      '',
      'shop/web:http  TCP 10.96.0.1:80',
      '  CLIENT         FORWARDER       ENDPOINT         STATE     SENT    RECEIVED  AGE',
      '  10.1.0.9:4000  10.1.0.9:10240  10.244.0.7:8080  open      1.2 kB  48 MB     12 s',
      '  10.1.0.9:4001  -               10.244.0.7:8080  dialling  1.2 kB  48 MB     12 s',
      '',
      'shop/dns  UDP 10.96.0.2:53',
      '  CLIENT         ENDPOINT         STATE      EXPIRES IN',
      '  10.1.0.8:4002  10.244.0.9:5353  UNREPLIED  30 s',
    ]);
  });

  it('fit 80 columns with the longest addresses of either family', async () => {
    const long = (last: string): string => `fd12:3456:789a:bcde:f012:3456:789a:${last} 65535`;
    const v6 = {
      ...OPEN,
      client: long('bcde'),
      source: long('cdef'),
      endpoint: long('f012'),
      state: 'endpoint-ended',
    } as const;
    const v4 = {
      ...OPEN,
      client: '255.255.255.254 65535',
      source: '255.255.255.253 65534',
      endpoint: '255.255.255.252 65533',
    };
    for (const each of [v4, v6]) {
      const text = stripVTControlCharacters(connectionsView(await shownOf([each]), 80));
      for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
    }
    const text = stripVTControlCharacters(connectionsView(await shownOf([v4]), 80)).split('\n');
    assert.deepEqual(text.slice(2), [
      'shop/web:http  TCP 10.96.0.1:80',
      '  CLIENT                 STATE  SENT    RECEIVED  AGE',
      '    > FORWARDER > ENDPOINT',
      '  255.255.255.254:65535  open   1.2 kB  48 MB     12 s',
      '    > 255.255.255.253:65534 > 255.255.255.252:65533',
    ]);
  });
});

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

  it('names the connections of a mode that have no entry', async () => {
    const reading = { conntrack: kernel([]), ...NOW, unseen: 'Sockets have no entry.' };
    const { unseen } = await readConnections(FRONTENDS, ALL, reading);
    assert.equal(unseen, 'Sockets have no entry.');
  });
});
