import { setImmediate as turn } from 'node:timers/promises';
import type { NodeBench } from '../scale/node-bench.ts';

/** What a row of changes cost the agent; one line of its output. */
export interface Burst {
  readonly changes: number;
  /** CPU of the process for one change, in microseconds. */
  readonly cpuUs: number;
  /** The most CPU that the thread used without letting a timer run, in milliseconds. */
  readonly pauseMs: number;
}

/** A slice as it is stored, as far as it is changed here. */
interface Slice {
  readonly endpoints: readonly { readonly conditions: { readonly ready: boolean } }[];
}

const KEPT_SLICES = 200;
const SAMPLE_MS = 1;

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
    return { changes, cpuUs: (user + system) / changes, pauseMs: pauses.stop() };
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

/** CPU of this thread between two runs of a timer: time that others had is not in it. */
class Pauses {
  #before = process.threadCpuUsage();
  #longestUs = 0;
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS);

  stop(): number {
    clearInterval(this.#timer);
    this.#sample();
    return this.#longestUs / 1000;
  }

  #sample(): void {
    const { user, system } = process.threadCpuUsage(this.#before);
    this.#longestUs = Math.max(this.#longestUs, user + system);
    this.#before = process.threadCpuUsage();
  }
}
