import type { AffinityFill, DataPlane } from '../dataplanes/contract.ts';
import type { Context } from './context.ts';
import { failureOf } from './failure.ts';

/** Reading it may take the kernel half a second when there are very many affinity entries. */
const ASK_EVERY_MS = 30_000;

/** Tracks the number of affinity entries in the kernel, for conditions and metrics. */
export class AffinityWatch {
  readonly #context: Pick<Context, 'plane' | 'clock' | 'log'>;
  #fill: AffinityFill | undefined;

  constructor(context: Pick<Context, 'plane' | 'clock' | 'log'>) {
    this.#context = context;
  }

  /** Undefined: the mode has no limit of its own, or it was not asked yet. */
  get fill(): AffinityFill | undefined {
    return this.#fill;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { plane, clock } = this.#context;
    while (!signal.aborted) {
      await clock.sleep(ASK_EVERY_MS, signal);
      if (!signal.aborted && (await this.#ask(plane)) === 'no limit') return;
    }
  }

  /** An unknown value is not shown; the next read is half a minute away. */
  async #ask(plane: DataPlane): Promise<'asked' | 'no limit'> {
    const { clock, log } = this.#context;
    try {
      this.#fill = await plane.read('affinityFill');
      return this.#fill === undefined ? 'no limit' : 'asked';
    } catch (error) {
      this.#fill = undefined;
      const { code, message } = failureOf(error, clock.monotonicMs());
      log.debug({ code }, `cannot count session affinity entries: ${message}`);
      return 'asked';
    }
  }
}

const NEARLY_FULL = 0.9;
const MOST_NAMED = 3;

/** Whether every new client of every Service is stored. */
export function hasAffinityRoom(fill: AffinityFill | undefined): boolean {
  if (fill === undefined) return true;
  return fill.full.length === 0 && fill.remembered < fill.room * NEARLY_FULL;
}

export function describeAffinity(fill: AffinityFill | undefined): string {
  if (fill === undefined) return 'not read yet, or this mode has no limit';
  const { remembered, room, full } = fill;
  const counts = `${count(remembered)} of ${count(room)} session affinity entries are used`;
  if (full.length === 0) return counts;
  const named = full.slice(0, MOST_NAMED).join(', ');
  const more = full.length > MOST_NAMED ? ` and ${full.length - MOST_NAMED} more` : '';
  return `${counts}; new clients of ${named}${more} get no affinity`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
