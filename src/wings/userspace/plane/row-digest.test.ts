import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WireRow } from './forwarder-protocol.ts';
import { frontendText, RowDigest, rowDigest } from './row-digest.ts';

const CLUSTER = { list: 'cluster', masquerade: false } as const;
const ROW: WireRow = {
  key: 'default/web/TCP/IPv4',
  affinitySeconds: 0,
  frontends: [
    { address: '10.96.0.1', port: 80, treatments: { pod: CLUSTER, host: CLUSTER, outside: null } },
    { address: '', port: 30_080, treatments: { pod: CLUSTER, host: CLUSTER, outside: CLUSTER } },
  ],
  cluster: ['10.0.0.1 80', '10.0.0.2 80', '10.0.0.3 80'],
  local: ['10.0.0.1 80'],
};

it('does not depend on the order of frontends and endpoints', () => {
  const turned = {
    ...ROW,
    frontends: ROW.frontends.toReversed(),
    cluster: ROW.cluster.toReversed(),
  };
  assert.equal(rowDigest(turned), rowDigest(ROW));
});

it('differs for every part that differs', () => {
  const [first, ...others] = ROW.frontends;
  assert.ok(first);
  const masqueraded = { list: 'cluster', masquerade: true } as const;
  const local = { list: 'local', masquerade: false } as const;
  const rows: WireRow[] = [
    ROW,
    { ...ROW, affinitySeconds: 10 },
    { ...ROW, frontends: others },
    { ...ROW, frontends: [{ ...first, port: 81 }, ...others] },
    ...[masqueraded, local, null].map((pod) => ({
      ...ROW,
      frontends: [{ ...first, treatments: { ...first.treatments, pod } }, ...others],
    })),
    { ...ROW, cluster: ROW.cluster.slice(1) },
    { ...ROW, cluster: [...ROW.cluster, '10.0.0.4 80'] },
    { ...ROW, local: ['10.0.0.2 80'] },
    { ...ROW, cluster: ROW.cluster.slice(1), local: [...ROW.local, '10.0.0.2 80'] },
  ];
  assert.equal(new Set(rows.map(rowDigest)).size, rows.length);
});

it('is the same after a part was added and removed', () => {
  const digest = new RowDigest();
  const empty = digest.text();
  digest.add('cluster', '10.0.0.1 80');
  digest.add('affinity', '5');
  const [frontend] = ROW.frontends;
  assert.ok(frontend);
  digest.add('frontend', frontendText(frontend));
  digest.remove('cluster', '10.0.0.1 80');
  digest.remove('affinity', '5');
  assert.notEqual(digest.text(), empty);
  digest.remove('frontend', frontendText(frontend));
  assert.equal(digest.text(), empty);
});

it('has no two equal digests among many rows of one endpoint', () => {
  const digests = Array.from({ length: 65_536 }, (_, index) =>
    rowDigest({ ...ROW, cluster: [`10.0.${index >> 8}.${index & 255} 80`] }),
  );
  assert.equal(new Set(digests).size, digests.length);
});
