import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DatedEntry } from '../../agent/history/history-page.ts';
import { runCommand } from '../../commands/basis/testing/run-command.ts';
import { nodesHistoryCommand } from './nodes-history.ts';
import { PlantedKubectl } from './testing/planted-kubectl.ts';
import { nodesTopCommand } from './top.ts';

const json = (value: unknown) => ({ out: JSON.stringify(value) });

describe('kubectl fairlead top', () => {
  const row = (service: string, figures: object) => ({
    service,
    protocol: 'TCP',
    family: 'IPv4',
    endpoints: [],
    ...figures,
  });
  const tick = (rows: readonly object[], totals: object, more: object = {}) =>
    json({ tick: 1, by: 'service', seconds: 2, totals, rows, more: 0, notes: [], ...more });
  const nodes = {
    node1: tick(
      [
        row('shop/web:http', { newPerSecond: 90, live: 10, rejectedPerSecond: 0 }),
        row('shop/reviews:http', { newPerSecond: 0, live: 0, rejectedPerSecond: 4.5 }),
      ],
      { newPerSecond: 90, live: 10, rejectedPerSecond: 4.5 },
    ),
    node2: tick(
      [
        row('shop/web:http', { newPerSecond: 30 }),
        row('shop/dns:dns', { newPerSecond: 200, protocol: 'UDP', family: 'IPv6' }),
      ],
      { newPerSecond: 230 },
      { notes: ['open connections are not known in this mode'], more: 3 },
    ),
    node3: 'late' as const,
  };

  it('sums the figures of all nodes, and says which node has how much', async (t) => {
    const kubectl = new PlantedKubectl({ nodes });
    const { code, out } = await runCommand(t, nodesTopCommand(kubectl), []);
    assert.equal(code, 1);
    assert.deepEqual(out.split('\n'), [
      '320 new connections/s, 10 open, 4.5 rejected/s, on 2 of 3 nodes',
      'node2: open connections are not known in this mode',
      '',
      'NEW/S  OPEN  REJECTED/S  DROPPED/S  SERVICE                NODES',
      '200    -     -           -          shop/dns:dns UDP IPv6  node2 100%',
      '120    10    0           -          shop/web:http          node1 75%, node2 25%',
      '0      0     4.5         -          shop/reviews:http      node1 100%',
      'and 3 more',
      '',
      'node3: no answer: no answer within 15 s',
    ]);
  });

  it('shows the rows that are asked for, and asks each node for all of its own', async (t) => {
    const kubectl = new PlantedKubectl({ nodes: { node1: nodes.node1 } });
    const args = ['--rows', '1', '--by', 'service', '--interval', '5s'];
    const { code, out } = await runCommand(t, nodesTopCommand(kubectl), args);
    assert.equal(code, 0);
    assert.match(out, /shop\/web/);
    assert.doesNotMatch(out, /shop\/reviews/);
    assert.match(out, /\nand 1 more$/);
    const exec = kubectl.asked.find((each) => each.args[0] === 'exec');
    assert.equal(
      exec?.args.slice(-9).join(' '),
      '--once -o json --by service --interval 5s --rows 1000',
    );
  });

  it('says that nothing is connected', async (t) => {
    const kubectl = new PlantedKubectl({ nodes: { node1: tick([], {}) } });
    const { out } = await runCommand(t, nodesTopCommand(kubectl), []);
    assert.match(out, /^- new connections\/s, on 1 of 1 node\n\nno connection to a Service$/);
  });
});

describe('kubectl fairlead history', () => {
  const ENDPOINTS = {
    kind: 'endpoints',
    slice: 'web-1',
    change: 'changed',
    moves: [],
    fields: [],
    resourceVersion: '77',
    writers: [],
  } as const;
  const entry = (fields: Partial<DatedEntry> & Pick<DatedEntry, 'seq' | 'atMs'>): DatedEntry => ({
    service: 'shop/web',
    ageMs: 1,
    what: ENDPOINTS,
    kernel: 'kernel',
    settledAfterMs: 1,
    ...fields,
  });
  const page = (...entries: DatedEntry[]) => json({ run: 'a', completeSinceMs: 0, entries });
  const started = { kind: 'started', mode: 'nftables', version: '1' } as const;
  const { kernel: _, settledAfterMs: __, ...bare } = entry({ seq: 1, atMs: 500 });

  it('merges by time, and has what one version of an object changed once', async (t) => {
    const nodes = {
      node1: page(
        { ...bare, service: '', what: started },
        entry({ seq: 2, atMs: 3000, settledAfterMs: 2 }),
      ),
      node2: page(
        { ...bare, seq: 9, atMs: 800, service: '', what: started },
        entry({ seq: 10, atMs: 2990, settledAfterMs: 40 }),
      ),
      node3: page(entry({ seq: 4, atMs: 3100 })),
    };
    const kubectl = new PlantedKubectl({ nodes });
    const { code, out } = await runCommand(t, nodesHistoryCommand(kubectl), ['shop/web']);
    assert.equal(code, 0);
    const lines = out.split('\n').filter((line) => /^\d\d:/.test(line));
    assert.deepEqual(
      lines.map((line) => line.replace(/: .*/, '')),
      ['00:00:00.500  node1', '00:00:00.800  node2', '00:00:02.990  all 3 nodes, shop/web'],
    );
    assert.match(out, /in the kernel after\s+40 ms/);
    assert.match(out, /^3 changes on 3 nodes/);
  });

  it('says that a change still waits on one of its nodes', async (t) => {
    const { settledAfterMs: ___, ...waiting } = entry({ seq: 2, atMs: 3000, kernel: 'waiting' });
    const nodes = { node1: page(entry({ seq: 2, atMs: 2000 })), node2: page(waiting) };
    const kubectl = new PlantedKubectl({ nodes });
    const { out } = await runCommand(t, nodesHistoryCommand(kubectl), []);
    assert.match(out, /node1, node2, shop\/web: /);
    assert.match(out, /not in the kernel\s+yet/);
  });

  it('shows the newest, and names a node that does not answer', async (t) => {
    const nodes = {
      node1: page(entry({ seq: 1, atMs: 1000 }), { ...bare, atMs: 9000, what: started }),
      node2: 'late' as const,
    };
    const kubectl = new PlantedKubectl({ nodes });
    const { code, out } = await runCommand(t, nodesHistoryCommand(kubectl), ['--limit', '1']);
    assert.equal(code, 1);
    assert.match(out, /^1 change on 1 node/);
    assert.match(out, /\nnode2: no answer: no answer within 15 s$/);
  });

  it('has no words for what a later version tells of, and says so', async (t) => {
    const what = { kind: 'eclipse' } as unknown as DatedEntry['what'];
    const kubectl = new PlantedKubectl({ nodes: { node1: page({ ...bare, what }) } });
    const { code, out } = await runCommand(t, nodesHistoryCommand(kubectl), []);
    assert.equal(code, 1);
    assert.match(out, /its version of Fairlead tells of eclipse/);
  });
});
