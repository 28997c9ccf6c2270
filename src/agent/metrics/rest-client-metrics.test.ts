import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RequestSeen } from '../../cluster/request-seen.ts';
import { RestClientMetrics } from './rest-client-metrics.ts';
import { bucketsOf, sampleOf } from './testing/told-metrics.ts';

const GET: RequestSeen = {
  method: 'GET',
  host: '10.0.0.1:6443',
  status: 200,
  durationMs: 4,
  requestBytes: 0,
  responseBytes: undefined,
};

it('counts requests as client-go does: by status, method and host', async () => {
  const metrics = new RestClientMetrics();
  metrics.onRequest(GET);
  metrics.onRequest({ ...GET, status: undefined, durationMs: 9_000 });
  metrics.onRequest({ ...GET, status: 401, durationMs: 1 });
  metrics.onRequest({ ...GET, retryOf: 401 });
  metrics.onRequest({ ...GET, method: 'POST', status: 201, requestBytes: 201, responseBytes: 445 });
  const text = await metrics.render();
  const host = 'host="10.0.0.1:6443"';
  for (const [series, value] of [
    [`requests_total{code="200",method="GET",${host}}`, 2],
    [`requests_total{code="<error>",method="GET",${host}}`, 1],
    [`requests_total{code="201",method="POST",${host}}`, 1],
    [`request_retries_total{code="401",verb="GET",${host}}`, 1],
    [`request_duration_seconds_count{verb="GET",${host}}`, 4],
    [`request_duration_seconds_bucket{le="0.005",verb="GET",${host}}`, 3],
    [`request_duration_seconds_bucket{le="15",verb="GET",${host}}`, 4],
    [`request_size_bytes_bucket{le="256",verb="POST",${host}}`, 1],
    [`response_size_bytes_sum{verb="POST",${host}}`, 445],
    [`response_size_bytes_count{verb="GET",${host}}`, undefined],
  ] as const) {
    assert.equal(sampleOf(text, `rest_client_${series}`), value, series);
  }
});

it('has as many series after 20,000 requests as after the first of each answer', async () => {
  const seriesAfter = async (count: number): Promise<number> => {
    const metrics = new RestClientMetrics();
    for (let n = 0; n < count; n++) {
      metrics.onRequest({
        ...GET,
        status: n % 2 === 0 ? 200 : 503,
        durationMs: n,
        requestBytes: n,
      });
    }
    return (await metrics.render()).split('\n').filter((line) => /^\w/.test(line)).length;
  };
  assert.equal(await seriesAfter(20_000), await seriesAfter(2));
});

it('has the bounds of client-go: component-base/metrics/prometheus/restclient', async () => {
  const metrics = new RestClientMetrics();
  metrics.onRequest({ ...GET, responseBytes: 1 });
  const text = await metrics.render();
  const seconds = '0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf';
  const bytes = '64 256 512 1024 4096 16384 65536 262144 1048576 4194304 16777216 +Inf';
  assert.deepEqual(bucketsOf(text, 'rest_client_request_duration_seconds'), seconds.split(' '));
  assert.deepEqual(bucketsOf(text, 'rest_client_request_size_bytes'), bytes.split(' '));
  assert.deepEqual(bucketsOf(text, 'rest_client_response_size_bytes'), bytes.split(' '));
});
