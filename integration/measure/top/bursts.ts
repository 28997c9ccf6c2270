import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { NodeBench } from '../scale/node-bench.ts';

/** What a row of changes cost the agent; one line of its output. */
export interface Burst {
  readonly changes: number;
  /** CPU of the process for one change, in microseconds. */
  readonly cpuUs: number;
  /** The most CPU that the agent's own code used without letting a timer run, in milliseconds. */
  readonly pauseMs: number;
  /** The longest garbage collection by the clock. It comes with or without whoever reads. */
  readonly collectionMs: number;
}

/** A slice as it is stored, as far as it is changed here. */
interface Slice {
  readonly endpoints: readonly { readonly conditions: { readonly ready: boolean } }[];
}

const KEPT_SLICES = 200;
const SAMPLE_MS = 1;
/** Shorter turns are no pause. */
const LEAST_MS = 2;

/** Changes of slices, one after the other, each until the kernel has it. */
export class Bursts {
  readonly #slices: Slice[] = [];
  #count = 0;

  /** Keeps the first slices. */
  take(kind: 'service' | 'slice', raw: object): void {
    if (kind === 'slice' && this.#slices.length < KEPT_SLICES) this.#slices.push(raw as Slice);
  }

  async run(bench: NodeBench, forMs: number): Promise<Burst> {
    const pauses = new Pauses();
    const [endsAtMs, before] = [performance.now() + forMs, process.cpuUsage()];
    let changes = 0;
    while (performance.now() < endsAtMs) {
      const next = this.#next();
      await bench.change(() => bench.source.put('slice', next));
      changes += 1;
      // Otherwise timers and other sockets would wait for the end.
      await turn();
    }
    const { user, system } = process.cpuUsage(before);
    return { changes, cpuUs: (user + system) / changes, ...pauses.stop() };
  }

  /** One endpoint more or less than before is ready. */
  #next(): Slice {
    const at = this.#count % this.#slices.length;
    this.#count += 1;
    const slice = this.#slices[at];
    if (slice === undefined) throw new TypeError('no slice was kept');
    const [first, ...rest] = slice.endpoints;
    if (first === undefined) throw new TypeError('the slice has no endpoint');
    const ready = !first.conditions.ready;
    const changed = {
      ...slice,
      endpoints: [{ ...first, conditions: { ...first.conditions, ready } }, ...rest],
    };
    this.#slices[at] = changed;
    return changed;
  }
}

interface Turn {
  readonly cpuMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** CPU of this thread between two runs of a timer: time that others had is not in it. */
class Pauses {
  readonly #turns: Turn[] = [];
  readonly #collections: PerformanceEntry[] = [];
  readonly #observer = new PerformanceObserver((list) => {
    this.#collections.push(...list.getEntries());
  });
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS);
  #before = process.threadCpuUsage();
  #beforeMs = performance.now();

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): Pick<Burst, 'pauseMs' | 'collectionMs'> {
    clearInterval(this.#timer);
    this.#sample();
    this.#collections.push(...this.#observer.takeRecords());
    this.#observer.disconnect();
    return {
      pauseMs: Math.max(0, ...this.#turns.map((each) => each.cpuMs - this.#collectedIn(each))),
      collectionMs: Math.max(0, ...this.#collections.map(({ duration }) => duration)),
    };
  }

  #collectedIn({ fromMs, toMs }: Turn): number {
    return this.#collections
      .filter(({ startTime }) => startTime >= fromMs && startTime <= toMs)
      .reduce((sum, { duration }) => sum + duration, 0);
  }

  #sample(): void {
    const { user, system } = process.threadCpuUsage(this.#before);
    const nowMs = performance.now();
    const cpuMs = (user + system) / 1000;
    if (cpuMs > LEAST_MS) this.#turns.push({ cpuMs, fromMs: this.#beforeMs, toMs: nowMs });
    this.#before = process.threadCpuUsage();
    this.#beforeMs = nowMs;
  }
}
