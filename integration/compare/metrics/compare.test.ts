import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KUBERNETES_VERSION } from '../../../lab/parts/build.ts';
import { KUBE_PROXY_VERSION } from '../../../src/commands/run/program-version.ts';
import { compareFamilies } from './compare.ts';
import { readFamilies } from './families.ts';

const THEIRS = `# HELP go_goroutines Number of goroutines.
# TYPE go_goroutines gauge
go_goroutines 12
# HELP kubeproxy_sync_seconds [ALPHA] Latency
# TYPE kubeproxy_sync_seconds histogram
kubeproxy_sync_seconds_bucket{ip_family="IPv4",le="0.001"} 0
kubeproxy_sync_seconds_bucket{ip_family="IPv4",le="1.6777216e+07"} 1
kubeproxy_sync_seconds_bucket{ip_family="IPv4",le="+Inf"} 1
kubeproxy_sync_seconds_sum{ip_family="IPv4"} 0.5
kubeproxy_sync_seconds_count{ip_family="IPv4"} 1
# TYPE rest_client_requests_total counter
rest_client_requests_total{code="200",host="a\\"}b:1",method="GET"} 4
# TYPE never_counted_total counter
`;
const OURS = THEIRS.replace(/^go_.*$/gm, '')
  .replaceAll('1.6777216e+07', '16777216')
  .replace('code="200",host="a\\"}b:1",method="GET"', 'method="GET",host="x",code="200"');

function faults(ours: string): readonly string[] {
  return compareFamilies(readFamilies(THEIRS), readFamilies(ours)).faults;
}

it('finds the same metrics the same, in whatever order and notation', () => {
  const compared = compareFamilies(readFamilies(THEIRS), readFamilies(OURS));
  assert.deepEqual(compared.faults, []);
  assert.deepEqual(compared.same, ['kubeproxy_sync_seconds', 'rest_client_requests_total']);
  assert.deepEqual(
    compared.leftOut.map(({ name }) => name),
    ['go_goroutines'],
  );
});

it('finds a missing metric, another type, label or bound', () => {
  for (const [planted, found] of [
    [OURS.replaceAll('rest_client_requests_total', 'other'), /requests_total: kube-proxy has it/],
    [
      OURS.replace('_requests_total counter', '_requests_total gauge'),
      /type: .* counter, .* gauge/,
    ],
    [OURS.replace('code="200"', 'status="200"'), /labels: .*code,host,method, .*status/],
    [OURS.replace('le="0.001"', 'le="0.002"'), /buckets: .*0\.001,.*0\.002/],
    [`${OURS}# TYPE go_goroutines gauge\ngo_goroutines 1\n`, /listed as left out/],
  ] as const) {
    const [first = ''] = faults(planted);
    assert.match(first, found);
  }
});

it('names the kube-proxy that the lab runs', () => {
  assert.equal(KUBE_PROXY_VERSION, KUBERNETES_VERSION);
});
