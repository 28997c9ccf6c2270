import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Forwarding } from '../../../forwarding/model.ts';
import { servicePortKey } from '../../../forwarding/model.ts';
import { DeclinedRows, type KeptRow } from './declined-rows.ts';

function rowOf(namespace: string, service: string): Forwarding {
  const forward = { action: 'forward', list: 'cluster', masquerade: false } as const;
  const outcomes = { pod: forward, host: forward, outside: forward };
  return {
    id: { namespace, service, port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [{ kind: 'cluster-ip', address: '10.96.0.1', port: 80, outcomes }],
    clusterEndpoints: [{ address: '10.244.0.1', port: 8080, local: true }],
    localEndpoints: [],
    affinitySeconds: 0,
  };
}

const changeOf = (row: Forwarding) => ({ key: servicePortKey(row.id), after: row });
const keyOf = (row: Forwarding) => servicePortKey(row.id);

describe('rows that the forwarder declined', () => {
  const [a, b, c] = [rowOf('evil', 'a'), rowOf('evil', 'b'), rowOf('other', 'c')];

  it('are kept from it, and handed over again when it takes them', async () => {
    const written: KeptRow[] = [];
    const rows = new DeclinedRows(async (each) => void written.push(...each));
    await rows.changed([a, b, c].map(changeOf), new Set([keyOf(a), keyOf(c)]));
    assert.deepEqual(
      written.map(({ key, frontends }) => [key, frontends.length]),
      [
        [keyOf(a), 1],
        [keyOf(c), 1],
      ],
    );
    written.splice(0);
    await rows.changed([{ key: keyOf(b), after: undefined }], new Set());
    assert.equal(written.length, 0, 'it never was');
    await rows.changed([changeOf(a), { key: keyOf(c), after: undefined }], new Set());
    assert.deepEqual(
      written.map(({ key, frontends }) => [key, frontends.length]),
      [
        [keyOf(a), 0],
        [keyOf(c), 0],
      ],
    );
    assert.equal(rows.report, undefined);
  });

  it('are those of the last inspection', async () => {
    const written: KeptRow[] = [];
    const rows = new DeclinedRows(async (each) => void written.push(...each));
    await rows.inspected([a, b], new Set([keyOf(a)]));
    await rows.inspected([b], new Set([keyOf(b)]));
    assert.deepEqual(
      written.map(({ key, frontends }) => [key, frontends.length]),
      [
        [keyOf(a), 1],
        [keyOf(b), 1],
        [keyOf(a), 0],
      ],
    );
  });

  it('are counted by namespace, those with the most first', async () => {
    const rows = new DeclinedRows(async () => undefined);
    const all = [c, a, b, rowOf('x', 'x'), rowOf('y', 'y')];
    await rows.changed(all.map(changeOf), new Set(all.map(keyOf)));
    assert.deepEqual(rows.report, {
      rowCount: 5,
      namespaces: [
        { name: 'evil', rowCount: 2 },
        { name: 'other', rowCount: 1 },
        { name: 'x', rowCount: 1 },
      ],
    });
  });
});
