import { setImmediate as turn } from 'node:timers/promises';
import { Turns } from '../../../src/flows/testing/event-loop-turns.ts';
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

/** Changes of slices, one after the other, each until the kernel has it. */
export class Bursts {
  readonly #slices: Slice[] = [];
  #count = 0;

  /** Keeps the first slices. */
  take(kind: 'service' | 'slice', raw: object): void {
    if (kind === 'slice' && this.#slices.length < KEPT_SLICES) this.#slices.push(raw as Slice);
  }

  async run(bench: NodeBench, forMs: number): Promise<Burst> {
    const turns = new Turns().start('each millisecond');
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
    const { longestMs, longestCollectionMs } = turns.stop();
    const cpuUs = (user + system) / changes;
    return { changes, cpuUs, pauseMs: longestMs, collectionMs: longestCollectionMs };
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
