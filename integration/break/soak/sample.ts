import { readdir, readFile } from 'node:fs/promises';
import { METRICS_PORT } from '../../../lab/proxies/kube-proxy-configuration.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { type MemoryParts, mappedParts } from './memory-parts.ts';

/** What is read of the agent at one moment. */
export interface Sample {
  /** Seconds since the begin. */
  readonly atSeconds: number;
  /** Of all processes of the proxy together. */
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  /** From the event to the acknowledgement, of the changes since the sample before. Null: of none. */
  readonly p99Ms: number | null;
  readonly changes: number;
  /** Until the agent had answered. Absent in samples of before. */
  readonly answerMs?: number;
  /** What the resident memory is made of. Absent in samples of before. */
  readonly memory?: MemoryParts;
}

/** A machine that stands still for some seconds is told by the report, and does not end an hour's run. */
const SCRAPE_DEADLINE_MS = 60_000;
const KIB = 1024;
const MS = 1_000;
const BUCKET = /^fairlead_propagation_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;
const HEAP = /^nodejs_heap_size_used_bytes (\d+)$/m;
const CLAIMED_HEAP = /^nodejs_heap_size_total_bytes (\d+)$/m;
const BUFFERS = /^nodejs_external_memory_bytes (\d+)$/m;

export interface SamplerOptions {
  readonly namespacePath: string;
  /** Asked each time: a forwarder may be another one. */
  readonly pids: () => Promise<readonly number[]>;
}

/** Reads what an operator would: /proc and /metrics. */
export class Sampler {
  readonly #options: SamplerOptions;
  readonly #beganMs = performance.now();
  #before: ReadonlyMap<number, number> | undefined;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** Undefined: the agent has not answered, as when the machine stood still for long. */
  async take(): Promise<Sample | undefined> {
    const { namespacePath, pids } = this.#options;
    const to = { address: '127.0.0.1', port: METRICS_PORT, path: '/metrics' };
    const request = { ...to, deadlineMs: SCRAPE_DEADLINE_MS };
    const askedAtMs = performance.now();
    const answer = await ifAnswered(httpGet({ namespace: namespacePath }, request));
    if (answer === undefined) return undefined;
    const { body } = answer;
    const answerMs = performance.now() - askedAtMs;
    const buckets = new Map(
      [...body.matchAll(BUCKET)].map(([, bound, count]) => [
        bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
        Number(count),
      ]),
    );
    const since = difference(buckets, this.#before);
    this.#before = buckets;
    const each = await Promise.all((await pids()).map(readProcess));
    return {
      atSeconds: (performance.now() - this.#beganMs) / MS,
      residentBytes: sum(each.map(({ residentBytes }) => residentBytes)),
      heapBytes: Number(HEAP.exec(body)?.[1] ?? 0),
      descriptors: sum(each.map(({ descriptors }) => descriptors)),
      p99Ms: quantileOf(since, 0.99),
      changes: since.get(Number.POSITIVE_INFINITY) ?? 0,
      answerMs,
      memory: {
        fileBytes: sum(each.map(({ parts }) => parts.fileBytes)),
        mallocBytes: sum(each.map(({ parts }) => parts.mallocBytes)),
        anonymousBytes: sum(each.map(({ parts }) => parts.anonymousBytes)),
        claimedHeapBytes: Number(CLAIMED_HEAP.exec(body)?.[1] ?? 0),
        bufferBytes: Number(BUFFERS.exec(body)?.[1] ?? 0),
      },
    };
  }
}

const NO_ANSWER: ReadonlySet<unknown> = new Set(['ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT']);

/** Undefined where the other side reset, refused or never answered; any other error is one. */
export async function ifAnswered<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException;
    if (name === 'AbortError' || name === 'TimeoutError' || NO_ANSWER.has(code)) return undefined;
    throw error;
  }
}

function difference(
  after: ReadonlyMap<number, number>,
  before: ReadonlyMap<number, number> = new Map(),
): Map<number, number> {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** As Prometheus computes it: between two bounds in a straight line. */
export function quantileOf(buckets: ReadonlyMap<number, number>, share: number): number | null {
  const wanted = share * (buckets.get(Number.POSITIVE_INFINITY) ?? 0);
  if (wanted === 0) return null;
  let below = { bound: 0, count: 0 };
  for (const [bound, count] of [...buckets].sort(([a], [b]) => a - b)) {
    if (count >= wanted) {
      if (!Number.isFinite(bound)) return below.bound * MS;
      const part = (wanted - below.count) / (count - below.count);
      return (below.bound + (bound - below.bound) * part) * MS;
    }
    below = { bound, count };
  }
  return null;
}

async function readProcess(pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const residentKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  const parts = mappedParts(await readFile(`/proc/${pid}/smaps`, 'utf8'));
  const { length: descriptors } = await readdir(`/proc/${pid}/fd`);
  return { residentBytes: residentKib * KIB, parts, descriptors };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
