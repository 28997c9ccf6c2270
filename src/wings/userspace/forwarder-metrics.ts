import type { MetricSet } from '../../agent/metrics.ts';
import type { ForwarderReport } from './plane/forwarder-report.ts';

const US = 1e6;

/**
 * The process of a mode that copies streams itself. Sums only: a label for each endpoint would make
 * the answer as large as the cluster. `fairlead status --counters` has them by endpoint.
 */
export class ForwarderMetrics {
  readonly #metrics: ReturnType<typeof define>;
  readonly #read: () => Promise<ForwarderReport>;

  constructor(set: MetricSet, read: () => Promise<ForwarderReport>) {
    this.#metrics = define(set);
    this.#read = read;
  }

  async take(): Promise<void> {
    const report = await this.#read();
    const metrics = this.#metrics;
    metrics.up.set(report.process === undefined ? 0 : 1);
    metrics.takes.set(report.newConnectionsTo === 'forwarder' ? 1 : 0);
    metrics.starts.replace(report.startCount);
    metrics.handedOver.replace(report.handedOver);
    metrics.declined.set(report.declined?.rowCount ?? 0);
    if (report.translatedByKernel !== undefined) {
      metrics.byKernel.replace(report.translatedByKernel);
    }
    metrics.open.set(report.process?.totals.open ?? 0);
    metrics.avoided.set(report.process?.totals.avoidedEndpoints ?? 0);
    // Counters keep their last value while there is no process: a fall would be taken for a restart.
    if (report.process !== undefined) this.#takeProcess(report.process);
  }

  #takeProcess({ mostConnections, totals }: NonNullable<ForwarderReport['process']>): void {
    const metrics = this.#metrics;
    metrics.room.set(mostConnections);
    metrics.connections.replace(totals.connections);
    metrics.bytes.replace(totals.bytesToEndpoint, 'to_endpoint');
    metrics.bytes.replace(totals.bytesToClient, 'to_client');
    metrics.connectSeconds.replace(totals.connectMicroseconds / US);
    metrics.attempts.replace(totals.refused, 'refused');
    metrics.attempts.replace(totals.timedOut, 'timed_out');
    metrics.failed.replace(totals.failed, 'no_endpoint');
    metrics.failed.replace(totals.unknownFrontend, 'unknown_frontend');
  }
}

function define(set: MetricSet) {
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    set.counter({ name: `fairlead_forwarder_${name}`, help, labels });
  const gauge = (name: string, help: string) =>
    set.gauge({ name: `fairlead_forwarder_${name}`, help });
  return {
    up: gauge('up', '1 if the forwarder runs and answers'),
    takes: gauge(
      'takes_connections',
      '1 if new TCP connections go to the forwarder, 0 if the kernel translates them',
    ),
    open: gauge('open_connections', 'Connections that the forwarder has open'),
    room: gauge('connections_room', 'Connections that the forwarder can have open at once'),
    avoided: gauge(
      'avoided_endpoints',
      'Endpoints that get no new connection for a while because they refused or did not answer',
    ),
    declined: gauge(
      'declined_rows',
      'Rows that the kernel forwards because the forwarder has no room for them',
    ),
    starts: counter('starts_total', 'Forwarders started by this agent'),
    handedOver: counter(
      'handed_over_total',
      'Open connections that one forwarder handed over to the next',
    ),
    byKernel: counter(
      'kernel_connections_total',
      'New TCP connections that the kernel translated because no forwarder took them',
    ),
    connections: counter('connections_total', 'Connections that an endpoint accepted'),
    bytes: counter('bytes_total', 'Bytes copied, by direction', ['direction']),
    connectSeconds: counter(
      'connect_seconds_total',
      'Time until endpoints accepted, of all connections together',
    ),
    attempts: counter(
      'failed_attempts_total',
      'Attempts to connect to an endpoint that failed; the connection went on to another one',
      ['reason'],
    ),
    failed: counter(
      'failed_connections_total',
      'Connections that were reset because no endpoint accepted, or their address was unknown',
      ['reason'],
    ),
  };
}
