import type { MetricSet } from '../metrics.ts';

/** Load by clients, and what was dropped because of it. */
export interface Pressure {
  /** Open connections to the servers. */
  readonly connectionCount: number;
  /** Connections closed early because of the limit. */
  readonly evictedConnectionCount: number;
  /** Log lines dropped because the output was blocked. */
  readonly droppedLogLineCount: number;
}

export class PressureMetrics {
  readonly #metrics: ReturnType<typeof define>;
  readonly #read: () => Pressure;

  constructor(set: MetricSet, read: () => Pressure) {
    this.#metrics = define(set);
    this.#read = read;
  }

  take(): void {
    const { connectionCount, evictedConnectionCount, droppedLogLineCount } = this.#read();
    this.#metrics.connections.set(connectionCount);
    this.#metrics.evicted.replace(evictedConnectionCount);
    this.#metrics.droppedLines.replace(droppedLogLineCount);
  }
}

function define(set: MetricSet) {
  return {
    connections: set.gauge({
      name: 'fairlead_server_connections',
      help: 'Open connections to the health, Service health and metrics servers',
    }),
    evicted: set.counter({
      name: 'fairlead_server_connections_evicted_total',
      help: 'Connections closed early because a server reached its connection limit',
    }),
    droppedLines: set.counter({
      name: 'fairlead_log_lines_dropped_total',
      help: 'Log lines dropped because the output was blocked',
    }),
  };
}
