import { readdirSync, readFileSync } from 'node:fs';
import type { MetricSet } from '../metrics.ts';

const MICROSECONDS = 1_000_000;

/** The process metrics of Prometheus' client libraries, and the heap of Node. */
export class ProcessMetrics {
  readonly #metrics: ReturnType<typeof define>;

  constructor(set: MetricSet) {
    this.#metrics = define(set);
  }

  take(): void {
    const metrics = this.#metrics;
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const limits = readFileSync('/proc/self/limits', 'utf8');
    metrics.cpu.replace((user + system) / MICROSECONDS);
    const stat = readFileSync('/proc/self/stat', 'utf8');
    metrics.start.set(startSeconds(stat, readFileSync('/proc/stat', 'utf8')));
    metrics.resident.set(rss);
    metrics.virtual.set(virtualMemoryBytes(readFileSync('/proc/self/status', 'utf8')));
    metrics.virtualMost.set(softLimit(limits, 'Max address space'));
    metrics.heapUsed.set(heapUsed);
    metrics.heapTotal.set(heapTotal);
    metrics.external.set(external);
    metrics.openFds.set(readdirSync('/proc/self/fd').length);
    metrics.mostFds.set(softLimit(limits, 'Max open files'));
    const { received, sent } = networkBytes(readFileSync('/proc/self/net/netstat', 'utf8'));
    metrics.received.replace(received);
    metrics.sent.replace(sent);
  }
}

function define(set: MetricSet) {
  const gauge = (name: string, help: string) => set.gauge({ name, help });
  const counter = (name: string, help: string) => set.counter({ name, help });
  return {
    cpu: counter('process_cpu_seconds_total', 'User and system CPU time in seconds'),
    start: gauge(
      'process_start_time_seconds',
      'Start time of the process in seconds since the Unix epoch',
    ),
    resident: gauge('process_resident_memory_bytes', 'Resident memory in bytes'),
    virtual: gauge('process_virtual_memory_bytes', 'Virtual memory in bytes'),
    virtualMost: gauge('process_virtual_memory_max_bytes', 'Limit of virtual memory in bytes'),
    openFds: gauge('process_open_fds', 'Open file descriptors'),
    mostFds: gauge('process_max_fds', 'Limit of open file descriptors'),
    // As in the Go library: for the network namespace of the process, so here of the node.
    received: counter(
      'process_network_receive_bytes_total',
      'Bytes received by the network namespace of the process',
    ),
    sent: counter(
      'process_network_transmit_bytes_total',
      'Bytes sent by the network namespace of the process',
    ),
    heapUsed: gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use in bytes'),
    heapTotal: gauge('nodejs_heap_size_total_bytes', 'JavaScript heap in bytes'),
    external: gauge(
      'nodejs_external_memory_bytes',
      'Memory of buffers outside of the JavaScript heap in bytes',
    ),
  };
}

/** Parses files of /proc for process metrics. */

const KIB = 1024;
/** The Go library shows 2^64-1 where there is no limit. */
const UNLIMITED = 2 ** 64;

/** `text` is status. */
export function virtualMemoryBytes(text: string): number {
  return Number(/^VmSize:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * KIB;
}

/** `text` is limits; `name` begins its line. */
export function softLimit(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(name)) ?? '';
  const [soft = ''] = line.slice(name.length).trim().split(/\s+/);
  return soft === '' || soft === 'unlimited' ? UNLIMITED : Number(soft);
}

/** USER_HZ, which is 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Field 22 of stat; the name of the process, which comes before, may have spaces and brackets. */
const START_AFTER_NAME = 19;

/**
 * Seconds since 1970. `stat` is that of the process, `kernelStat` is /proc/stat. Computed from the wall
 * clock and the age of the process it would differ by some microseconds at each scrape, and Prometheus'
 * changes() would count restarts.
 */
export function startSeconds(stat: string, kernelStat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const bootSeconds = Number(/^btime (\d+)$/m.exec(kernelStat)?.[1] ?? 0);
  return bootSeconds + Number(fields[START_AFTER_NAME] ?? 0) / TICKS_PER_SECOND;
}

interface NetworkBytes {
  readonly received: number;
  readonly sent: number;
}

/** `text` is net/netstat: a line of names, then one of values, for each group. */
export function networkBytes(text: string): NetworkBytes {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '));
  const at = (name: string): number => Number(values[names.indexOf(name)] ?? 0);
  return { received: at('InOctets'), sent: at('OutOctets') };
}
