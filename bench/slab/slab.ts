import { Worker } from 'node:worker_threads';
import { until } from '../../lab/host/until.ts';
import { CELLS, EVERY_MS, HIGHEST, LOWEST, NOW, RISE, restart, SAMPLES } from './meminfo.ts';

const KIB = 1024;
const CALM_KIB = 2 * 1024;
const CALM_SAMPLES = 25;
const CALM_DEADLINE_MS = 20_000;
const FIRST_DEADLINE_MS = 5_000;

/**
 * The kernel's unreclaimable objects, of the whole machine, every 20 ms. What one transaction holds
 * until it commits is counted only there: it belongs to no process.
 */
export class Slab implements AsyncDisposable {
  readonly #cells = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | undefined;

  async start(): Promise<void> {
    const file = new URL('slab-thread.ts', import.meta.url);
    this.#worker = new Worker(file, { workerData: this.#cells.buffer });
    this.#worker.unref();
    await this.#samples(1, FIRST_DEADLINE_MS);
    this.mark();
  }

  /** What follows is counted from here. */
  mark(): void {
    restart(this.#cells);
  }

  get aboveBytes(): number {
    return (Atomics.load(this.#cells, NOW) - Atomics.load(this.#cells, LOWEST)) * KIB;
  }

  get peakAboveBytes(): number {
    return Atomics.load(this.#cells, RISE) * KIB;
  }

  /** The highest since the last call, above the lowest since the mark. */
  takeHighestBytes(): number {
    const now = Atomics.load(this.#cells, NOW);
    const highest = Math.max(now, Atomics.exchange(this.#cells, HIGHEST, 0));
    return (highest - Atomics.load(this.#cells, LOWEST)) * KIB;
  }

  /** Until the kernel has given back what others left; at the deadline it counts as calm. */
  async calm(signal: AbortSignal): Promise<void> {
    const giveUpAtMs = performance.now() + CALM_DEADLINE_MS;
    while (performance.now() < giveUpAtMs) {
      signal.throwIfAborted();
      const before = Atomics.load(this.#cells, NOW);
      await this.#samples(CALM_SAMPLES, CALM_DEADLINE_MS);
      if (Math.abs(Atomics.load(this.#cells, NOW) - before) < CALM_KIB) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  async #samples(count: number, deadlineMs: number): Promise<void> {
    const from = Atomics.load(this.#cells, SAMPLES);
    await until(() => Atomics.load(this.#cells, SAMPLES) - from >= count, {
      what: 'samples of /proc/meminfo',
      deadlineMs,
      everyMs: EVERY_MS,
    });
  }
}
