import { PacedRead } from '../../agent/metrics/paced-read.ts';
import type { MetricSet } from '../../agent/metrics.ts';
import type { Clock } from '../../time/clock.ts';
import type { IpvsReport } from './plane/ipvs-report.ts';

export interface IpvsReading {
  read(): Promise<IpvsReport>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** What the kernel counts of IPVS, summed up. */
export class IpvsMetrics {
  readonly #metrics: ReturnType<typeof define>;
  readonly #reading: IpvsReading;
  readonly #paced: PacedRead;

  constructor(set: MetricSet, reading: IpvsReading) {
    this.#metrics = define(set);
    this.#metrics.failures.replace(0);
    this.#reading = reading;
    this.#paced = new PacedRead(reading.clock);
  }

  /** Keeps the last values while another read would cost too much, and when one fails. */
  async take(): Promise<void> {
    await this.#paced.run({
      read: async () => {
        this.#show(await this.#reading.read());
      },
      onFailure: () => this.#metrics.failures.add(1),
    });
  }

  #show(report: IpvsReport): void {
    const { servers, destinations, connections } = this.#metrics;
    servers.clear();
    for (const { name, virtualServers } of report.schedulers) servers.set(virtualServers, name);
    destinations.set(report.destinations, 'serving');
    destinations.set(report.drainingDestinations, 'draining');
    connections.set(report.activeConnections, 'active');
    connections.set(report.inactiveConnections, 'inactive');
  }
}

function define(set: MetricSet) {
  const gauge = (name: string, help: string, label: string) =>
    set.gauge({ name: `fairlead_ipvs_${name}`, help, labels: [label] });
  return {
    servers: gauge('virtual_servers', 'Virtual servers of Fairlead, by scheduler', 'scheduler'),
    destinations: gauge(
      'destinations',
      'Destinations of these virtual servers: serving, or draining with weight 0',
      'state',
    ),
    connections: gauge(
      'connections',
      'Connections of these destinations: active (established), or inactive (all others)',
      'state',
    ),
    failures: set.counter({
      name: 'fairlead_ipvs_read_failures_total',
      help: 'Failed attempts to read these numbers from the kernel',
    }),
  };
}
