import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

/** Shorter turns do not matter, and there are very many of them. */
const LEAST_MS = 1;
const SAMPLE_MS = 1;

interface Turn {
  readonly fromMs: number;
  readonly toMs: number;
  readonly processorMs: number;
}

interface Watched {
  readonly longestMs: number;
  /** All turns that did something. */
  readonly busyMs: number;
  /** By the clock. */
  readonly longestCollectionMs: number;
}

/**
 * Turns of the event loop, in processor time of this thread and without garbage collections: neither
 * what others had of the processor nor when garbage is collected is what is measured.
 *
 * `each turn` keeps the loop awake; `each millisecond` costs little, for where CPU is measured too.
 */
export class Turns {
  readonly #turns: Turn[] = [];
  readonly #collections: PerformanceEntry[] = [];
  readonly #observer = new PerformanceObserver((list) => {
    this.#collections.push(...list.getEntries());
  });
  readonly #stop = new AbortController();
  #last = process.threadCpuUsage();
  #lastMs = performance.now();

  start(sampled: 'each turn' | 'each millisecond'): this {
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#last = process.threadCpuUsage();
    this.#lastMs = performance.now();
    if (sampled === 'each turn') this.#noteEachTurn();
    else {
      const timer = setInterval(() => this.#note(), SAMPLE_MS);
      this.#stop.signal.addEventListener('abort', () => clearInterval(timer));
    }
    return this;
  }

  stop(): Watched {
    this.#stop.abort();
    // Work without a break ends in the turn that it began in, which is this one.
    this.#note();
    this.#collections.push(...this.#observer.takeRecords());
    this.#observer.disconnect();
    const lengths = this.#turns.map((turn) => this.#withoutCollections(turn));
    return {
      longestMs: Math.max(0, ...lengths),
      busyMs: lengths.reduce((sum, length) => sum + length, 0),
      longestCollectionMs: Math.max(0, ...this.#collections.map(({ duration }) => duration)),
    };
  }

  #noteEachTurn(): void {
    setImmediate(() => {
      if (this.#stop.signal.aborted) return;
      this.#note();
      this.#noteEachTurn();
    });
  }

  #note(): void {
    const { user, system } = process.threadCpuUsage(this.#last);
    const toMs = performance.now();
    const turn = { fromMs: this.#lastMs, toMs, processorMs: (user + system) / 1000 };
    if (turn.processorMs > LEAST_MS) this.#turns.push(turn);
    this.#last = process.threadCpuUsage();
    this.#lastMs = toMs;
  }

  #withoutCollections({ fromMs, toMs, processorMs }: Turn): number {
    const inside = this.#collections.filter(
      ({ startTime }) => startTime >= fromMs && startTime < toMs,
    );
    return inside.reduce((left, { duration }) => left - duration, processorMs);
  }
}
