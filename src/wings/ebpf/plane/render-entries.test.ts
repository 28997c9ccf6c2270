import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodNetwork } from './maps/pod-network-entry.ts';
import { type RenderedPlace, renderedEntries } from './render-entries.ts';
import { clusterIp, rowOf } from './testing/ebpf-rows.ts';

const AT_SOCKETS: RenderedPlace = { podsMet: 'at sockets', onlyOwnSockets: false };
const AS_PACKETS: RenderedPlace = {
  podsMet: 'as packets',
  podNetwork: new PodNetwork(['10.244.0.0/16']),
  onlyOwnSockets: false,
};

test('prints entries with their effect', () => {
  const frontend = clusterIp('10.96.0.1');
  const row = rowOf('web', {
    frontends: [frontend],
    endpoints: ['10.244.0.1:80', '10.244.0.2:80'],
  });
  assert.deepEqual(
    renderedEntries(row, frontend, AT_SOCKETS).map(({ map, text, does }) => [map, text, does]),
    [
      [
        'frontends',
        '10.96.0.1 tcp 80 from pod : slots +0..+1',
        'the socket gets one of 2 endpoints',
      ],
      [
        'frontends',
        '10.96.0.1 tcp 80 from host : slots +0..+1',
        'the socket gets one of 2 endpoints',
      ],
      ['slots', '+0 : 10.244.0.1:80', ''],
      ['slots', '+1 : 10.244.0.2:80', ''],
    ],
  );
});

test('prints what a socket hook cannot do as passing, with the reason', () => {
  const masqueraded = { action: 'forward', list: 'cluster', masquerade: true } as const;
  const outcomes = { pod: masqueraded, host: masqueraded, outside: masqueraded };
  const external = clusterIp('192.0.2.1', { outcomes });
  const ranged = clusterIp('192.0.2.2', { outcomes, allowedSources: ['10.0.0.0/8'] });
  const rejected = { action: 'reject' } as const;
  const empty = clusterIp('192.0.2.3', {
    outcomes: { pod: rejected, host: rejected, outside: rejected },
  });
  const row = rowOf('web', { frontends: [external, ranged, empty], endpoints: ['10.244.0.1:80'] });
  const does = [external, ranged, empty].map((each) =>
    renderedEntries(row, each, AT_SOCKETS)
      .filter(({ map }) => map === 'frontends')
      .map((entry) => entry.does),
  );
  assert.deepEqual(does, [
    ['passes the hook: it must be masqueraded', 'the socket gets the only endpoint'],
    [
      'passes the hook: its source address is known only after routing',
      'passes the hook: its source address is known only after routing',
    ],
    ['passes the hook: nftables rejects it', 'passes the hook: nftables rejects it'],
  ]);
});

test('prints no entry for a frontend of another Service', () => {
  const lost = clusterIp('10.96.0.1', {
    notServed: { reason: 'other-service', service: 'ns/older' },
  });
  const row = rowOf('web', { frontends: [lost], endpoints: [] });
  assert.deepEqual(renderedEntries(row, lost, AT_SOCKETS), []);
});

test('prints packets from outside too, and endpoints outside the pod network as passing', () => {
  const masqueraded = { action: 'forward', list: 'cluster', masquerade: true } as const;
  const plain = { action: 'forward', list: 'cluster', masquerade: false } as const;
  const frontend = clusterIp('10.96.0.1', {
    outcomes: { pod: plain, host: plain, outside: masqueraded },
  });
  const does = (endpoints: string[]): string[] =>
    renderedEntries(rowOf('web', { frontends: [frontend], endpoints }), frontend, AS_PACKETS)
      .filter(({ map }) => map === 'frontends')
      .map((entry) => entry.does);
  assert.deepEqual(does(['10.244.0.1:80']), [
    'the connection gets the only endpoint',
    'the socket gets the only endpoint',
    'the connection gets the only endpoint',
  ]);
  assert.deepEqual(does(['10.244.0.1:80', '192.0.2.9:80']), [
    'passes the hook: it leaves the pod network, where another host may masquerade it',
    'the socket gets one of 2 endpoints',
    'the connection gets one of 2 endpoints',
  ]);
});

test('prints an address of the node itself as passing', () => {
  const [own, other] = [clusterIp('10.96.0.10'), clusterIp('10.96.0.11')];
  const row = rowOf('dns', { frontends: [own, other], endpoints: ['10.244.0.1:80'] });
  for (const place of [AT_SOCKETS, AS_PACKETS]) {
    const told = { ...place, ownAddresses: new Set(['10.96.0.10']) };
    const [passes] = renderedEntries(row, own, told);
    assert.equal(passes?.does, 'passes the hook: the node has this address itself');
    assert.match(renderedEntries(row, other, told)[0]?.does ?? '', /gets the only endpoint/);
  }
});

test('prints no entry for other clients where only own sockets are served', () => {
  const frontend = clusterIp('10.96.0.1');
  const row = rowOf('web', { frontends: [frontend], endpoints: ['10.244.0.1:80'] });
  for (const place of [AT_SOCKETS, AS_PACKETS]) {
    const entries = renderedEntries(row, frontend, { ...place, onlyOwnSockets: true });
    assert.deepEqual(
      entries.filter(({ map }) => map === 'frontends').map(({ text }) => text),
      ['10.96.0.1 tcp 80 from host : slots +0..+0'],
    );
  }
});
