import type { RequestSeen } from '../../cluster/request-seen.ts';
import { MetricSet } from '../metrics.ts';

const MS = 1000;
/** The status label of client-go for a request without a response. */
const NO_ANSWER = '<error>';

/** client-go's buckets for request latencies. */
const REQUEST_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** client-go's buckets for sizes: 64 bytes to 16 MiB. */
const REQUEST_BYTES: readonly number[] = [
  64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/**
 * Requests to the API server, as client-go counts them. Unlike client-go it also measures watches,
 * until the response starts: Fairlead sends hardly anything else.
 */
export class RestClientMetrics {
  readonly #set = new MetricSet();
  readonly #metrics: ReturnType<typeof define>;

  constructor() {
    this.#metrics = define(this.#set);
  }

  onRequest(seen: RequestSeen): void {
    const { method, host, status, durationMs, requestBytes, responseBytes, retryOf } = seen;
    const metrics = this.#metrics;
    metrics.requests.add(1, status === undefined ? NO_ANSWER : String(status), method, host);
    metrics.duration.observe(durationMs / MS, method, host);
    metrics.requestSize.observe(requestBytes, method, host);
    if (responseBytes !== undefined) metrics.responseSize.observe(responseBytes, method, host);
    if (retryOf !== undefined) metrics.retries.add(1, String(retryOf), method, host);
  }

  async render(): Promise<string> {
    return this.#set.render();
  }
}

function define(set: MetricSet) {
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    set.histogram({ name: `rest_client_${name}`, help, labels: ['verb', 'host'], buckets });
  const counter = (name: string, help: string, labels: readonly string[]) =>
    set.counter({ name: `rest_client_${name}`, help, labels });
  return {
    requests: counter('requests_total', 'Requests to the API server, by status code', [
      'code',
      'method',
      'host',
    ]),
    retries: counter(
      'request_retries_total',
      'Retried requests to the API server, by the status code of the first attempt',
      ['code', 'verb', 'host'],
    ),
    duration: histogram(
      'request_duration_seconds',
      'Time until the response headers of the API server arrived',
      REQUEST_SECONDS,
    ),
    requestSize: histogram('request_size_bytes', 'Size of request bodies', REQUEST_BYTES),
    responseSize: histogram(
      'response_size_bytes',
      'Size of response bodies with a Content-Length',
      REQUEST_BYTES,
    ),
  };
}
