import { median } from '../../../lab/host/spread.ts';
import { Mirror } from '../../../src/cluster/mirror.ts';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { readLine } from '../../../src/cluster/wire/json-encoding.ts';
import type { ForwardingTable } from '../../../src/forwarding/table.ts';

/** What one changed slice takes, in microseconds. */
export interface ChangeTime {
  /** From the line of the watch to the changed row. */
  readonly whole: number;
  /** Of that, from the slice as it is kept to the changed row. */
  readonly model: number;
}

const BLOCK = 250;
const WARM_UP_ROUNDS = 10;
const ROUNDS = 50;
/** Enough lines that no Service of a large cluster is visited twice, with warm caches. */
const MAX_LINES = (WARM_UP_ROUNDS + ROUNDS) * BLOCK;
/** A prime, so that neighbours in memory are not visited one after the other. */
const STRIDE = 7_919;

/** A model that receives one slice after the other, as from the lines of a watch. */
export class ChangeBench {
  readonly #table: ForwardingTable;
  readonly #mirror: Mirror<'slice'>;
  readonly #lines: { readonly shortened: Buffer; readonly whole: Buffer }[] = [];
  readonly #linesEvery: number;
  #toldCount = 0;
  #visitCount = 0;
  #putMs = 0;

  constructor(table: ForwardingTable, options: { sliceCount: number }) {
    this.#table = table;
    this.#linesEvery = Math.ceil(options.sliceCount / MAX_LINES);
    this.#mirror = new Mirror({
      kind: 'slice',
      interner: new Interner(),
      onEvent: (event) => {
        if (event.kind !== 'slice' || event.type !== 'put') return;
        const startedAtMs = performance.now();
        table.putSlice(event.object);
        this.#putMs = performance.now() - startedAtMs;
      },
      onProblem: (problem) => {
        throw problem;
      },
    });
  }

  /** Takes a slice as the API server has it, to change it later. */
  tell(raw: RawSlice): void {
    this.#mirror.put(raw);
    if (raw.endpoints.length < 2 || this.#toldCount++ % this.#linesEvery !== 0) return;
    const lineOf = (object: RawSlice): Buffer =>
      Buffer.from(JSON.stringify({ type: 'MODIFIED', object }));
    const shortened = lineOf({ ...raw, endpoints: raw.endpoints.slice(1) });
    this.#lines.push({ shortened, whole: lineOf(raw) });
  }

  ready(): void {
    this.#table.takeChanges();
  }

  /** Medians over one block of changes. */
  block(): ChangeTime {
    const times = Array.from({ length: BLOCK }, () => this.#change());
    return { whole: median(times.map((t) => t.whole)), model: median(times.map((t) => t.model)) };
  }

  /** Another Service each time. */
  #change(): ChangeTime {
    const visit = this.#visitCount++;
    const lines = this.#lines[(visit * STRIDE) % this.#lines.length];
    if (!lines) throw new Error('there is no slice to change');
    const isBack = Math.floor(visit / this.#lines.length) % 2 === 1;
    // A copy, because what has just been received is in the processor's cache.
    const line = Buffer.from(isBack ? lines.whole : lines.shortened);
    const startedAtMs = performance.now();
    const event = readLine(line);
    if (event?.type === 'put') this.#mirror.put(event.object);
    const putAtMs = performance.now();
    const changes = this.#table.takeChanges();
    const doneAtMs = performance.now();
    if (changes.length !== 1)
      throw new Error(`one slice caused ${changes.length} changes instead of one`);
    return {
      whole: (doneAtMs - startedAtMs) * 1_000,
      model: (this.#putMs + doneAtMs - putAtMs) * 1_000,
    };
  }
}

export interface RawSlice {
  readonly endpoints: readonly unknown[];
}

export interface Comparison {
  readonly large: ChangeTime;
  /** How many times what it takes with few Services. */
  readonly growth: ChangeTime;
}

/**
 * A large and a small model in one process, a block of changes of one after a block of the other:
 * what disturbs the machine, the collector or the compiler at a time disturbs both.
 */
export function compareChanges(large: ChangeBench, small: ChangeBench): Comparison {
  const rounds = Array.from({ length: WARM_UP_ROUNDS + ROUNDS }, () => ({
    small: small.block(),
    large: large.block(),
  })).slice(WARM_UP_ROUNDS);
  const growth = (part: keyof ChangeTime): number =>
    median(rounds.map((round) => round.large[part] / round.small[part]));
  return {
    large: {
      whole: median(rounds.map((round) => round.large.whole)),
      model: median(rounds.map((round) => round.large.model)),
    },
    growth: { whole: growth('whole'), model: growth('model') },
  };
}
