import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderedEntries } from './render.ts';
import { clusterIp, rowOf } from './testing/rows.ts';

test('entries are told with what they do', () => {
  const frontend = clusterIp('10.96.0.1');
  const row = rowOf('web', {
    frontends: [frontend],
    endpoints: ['10.244.0.1:80', '10.244.0.2:80'],
  });
  assert.deepEqual(
    renderedEntries(row, frontend).map(({ map, text, does }) => [map, text, does]),
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

test('what a socket cannot do is said to pass, and why', () => {
  const masqueraded = { action: 'forward', list: 'cluster', masquerade: true } as const;
  const outcomes = { pod: masqueraded, host: masqueraded, outside: masqueraded };
  const external = clusterIp('192.0.2.1', { outcomes });
  const ranged = clusterIp('192.0.2.2', { outcomes, allowedSources: ['10.0.0.0/8'] });
  const refused = { action: 'reject' } as const;
  const empty = clusterIp('192.0.2.3', {
    outcomes: { pod: refused, host: refused, outside: refused },
  });
  const row = rowOf('web', { frontends: [external, ranged, empty], endpoints: ['10.244.0.1:80'] });
  const does = [external, ranged, empty].map((each) =>
    renderedEntries(row, each)
      .filter(({ map }) => map === 'frontends')
      .map((entry) => entry.does),
  );
  assert.deepEqual(does, [
    ['passes the hook: it must be masqueraded', 'the socket gets the only endpoint'],
    [
      'passes the hook: its source is not known before it is routed',
      'passes the hook: its source is not known before it is routed',
    ],
    ['passes the hook: the rules behind reject it', 'passes the hook: the rules behind reject it'],
  ]);
});

test('what another Service has is in no map', () => {
  const lost = clusterIp('10.96.0.1', { lostTo: 'ns/older' });
  assert.deepEqual(renderedEntries(rowOf('web', { frontends: [lost], endpoints: [] }), lost), []);
});
