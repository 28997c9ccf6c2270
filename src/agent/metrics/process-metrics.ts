import { readdirSync } from 'node:fs';
import type { MetricSet } from '../metrics.ts';

const MICROSECONDS = 1_000_000;
const MS = 1000;

/** The few that every dashboard of processes expects, and what tells a leak. */
export class ProcessMetrics {
  readonly #metrics: ReturnType<typeof define>;

  constructor(set: MetricSet) {
    this.#metrics = define(set);
  }

  take(): void {
    const metrics = this.#metrics;
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    metrics.cpu.replace((user + system) / MICROSECONDS);
    metrics.start.set((Date.now() - process.uptime() * MS) / MS);
    metrics.resident.set(rss);
    metrics.heapUsed.set(heapUsed);
    metrics.heapTotal.set(heapTotal);
    metrics.external.set(external);
    metrics.openFds.set(readdirSync('/proc/self/fd').length);
  }
}

function define(set: MetricSet) {
  const gauge = (name: string, help: string) => set.gauge({ name, help });
  return {
    cpu: set.counter({ name: 'process_cpu_seconds_total', help: 'Time on a CPU' }),
    start: gauge('process_start_time_seconds', 'Start of the process since 1970'),
    resident: gauge('process_resident_memory_bytes', 'Resident memory'),
    openFds: gauge('process_open_fds', 'Open file descriptors'),
    heapUsed: gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use'),
    heapTotal: gauge('nodejs_heap_size_total_bytes', 'JavaScript heap'),
    external: gauge('nodejs_external_memory_bytes', 'Buffers outside of the heap'),
  };
}
