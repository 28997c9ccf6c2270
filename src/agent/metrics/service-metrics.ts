import type { EndpointCount, RejectedCount } from '../../dataplanes/contract.ts';
import type { Clock } from '../../time/clock.ts';
import type { MetricSet } from '../metrics.ts';
import { PacedRead } from './paced-read.ts';

export interface ServiceReading {
  counters(): Promise<readonly EndpointCount[]>;
  /** Undefined: the mode does not count them. */
  rejected(): Promise<readonly RejectedCount[] | undefined>;
  /** The busiest service ports that have series. */
  readonly most: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

interface Sums {
  connections: number;
  rejected: number;
  dropped: number;
}

/** One counter in the kernel. */
interface Counted {
  readonly service: string;
  readonly kind: keyof Sums;
  readonly name: string;
}

const KINDS = ['connections', 'rejected', 'dropped'] as const;

/**
 * What the busiest service ports have counted since the first scrape: three series for each, and for no
 * more than configured, or one tenant could make a scrape as large as the cluster.
 */
export class ServiceMetrics {
  readonly #metrics: ReturnType<typeof define>;
  readonly #reading: ServiceReading;
  /** Of each counter in the kernel: it begins at 0 again when its endpoint goes and comes. */
  #before: ReadonlyMap<string, number> | undefined;
  /** By namespace, name, port and protocol, over both families. */
  readonly #sums = new Map<string, Sums>();
  #isRejectedKnown = false;
  readonly #paced: PacedRead;

  constructor(set: MetricSet, reading: ServiceReading) {
    this.#metrics = define(set);
    this.#metrics.failures.replace(0);
    this.#reading = reading;
    this.#paced = new PacedRead(reading.clock);
  }

  /** Keeps the last values while another read would cost too much, and when one fails. */
  async take(): Promise<void> {
    await this.#paced.run({
      read: async () => {
        await this.#read();
        this.#show();
      },
      onFailure: () => this.#metrics.failures.add(1),
    });
  }

  async #read(): Promise<void> {
    const counts = await this.#reading.counters();
    const rejections = await this.#reading.rejected();
    const before = this.#before;
    const after = new Map<string, number>();
    const take = ({ service, kind, name }: Counted, count: number): void => {
      if (count === 0) return;
      after.set(name, count);
      if (before === undefined) return;
      const known = before.get(name) ?? 0;
      const added = count >= known ? count - known : count;
      if (added > 0) this.#sumsOf(service)[kind] += added;
    };
    for (const { service, endpoint, connections } of counts) {
      take({ service, kind: 'connections', name: `${service} ${endpoint}` }, connections);
    }
    for (const { service, rejected, dropped } of rejections ?? []) {
      take({ service, kind: 'rejected', name: `${service} rejected` }, rejected);
      take({ service, kind: 'dropped', name: `${service} dropped` }, dropped);
    }
    this.#before = after;
    this.#isRejectedKnown = rejections !== undefined;
  }

  #sumsOf(service: string): Sums {
    const name = service.slice(0, service.lastIndexOf('/'));
    const known = this.#sums.get(name) ?? { connections: 0, rejected: 0, dropped: 0 };
    this.#sums.set(name, known);
    return known;
  }

  #show(): void {
    const busiest = [...this.#sums].sort(
      ([a, x], [b, y]) => totalOf(y) - totalOf(x) || (a < b ? -1 : 1),
    );
    for (const kind of KINDS) this.#metrics[kind].clear();
    for (const [name, sums] of busiest.slice(0, this.#reading.most)) {
      const labels = labelsOf(name);
      this.#metrics.connections.replace(sums.connections, ...labels);
      if (!this.#isRejectedKnown) continue;
      this.#metrics.rejected.replace(sums.rejected, ...labels);
      this.#metrics.dropped.replace(sums.dropped, ...labels);
    }
    this.#metrics.leftOut.set(Math.max(0, busiest.length - this.#reading.most));
  }
}

function totalOf({ connections, rejected, dropped }: Sums): number {
  return connections + rejected + dropped;
}

/** `namespace/name:port/protocol`. */
function labelsOf(name: string): string[] {
  const [namespace = '', serviceAndPort = '', protocol = ''] = name.split('/');
  const [service = '', port = ''] = serviceAndPort.split(':');
  return [namespace, service, port, protocol];
}

function define(set: MetricSet) {
  const labels = ['namespace', 'service', 'port', 'protocol'];
  const counter = (name: string, help: string) =>
    set.counter({ name: `fairlead_service_${name}_total`, help, labels });
  return {
    connections: counter('connections', 'New connections to endpoints, of the busiest Services'),
    rejected: counter('rejected_packets', 'Packets rejected for want of an endpoint'),
    dropped: counter('dropped_packets', 'Packets dropped for want of an endpoint on this node'),
    leftOut: set.gauge({
      name: 'fairlead_service_ports_left_out',
      help: 'Service ports with connections that have no series of their own: fairlead.serviceMetrics',
    }),
    failures: set.counter({
      name: 'fairlead_service_read_failures_total',
      help: 'Failed attempts to read these numbers from the kernel',
    }),
  };
}
