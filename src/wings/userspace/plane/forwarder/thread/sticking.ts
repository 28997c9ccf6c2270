import { keyText } from '../address-key.ts';
import type { FromThread } from '../messages.ts';
import type { Counts } from './counts.ts';
import type { Endings } from './endings.ts';
import { type Pair, STATE } from './pair.ts';
import type { Waits } from './waits.ts';

interface StickingParts {
  readonly endings: Endings;
  readonly counts: Counts;
  readonly waits: Waits;
  readonly clock: () => number;
  readonly tell: (message: FromThread) => void;
  readonly watchClient: (pair: Pair) => void;
  /** Null: no endpoint is left. */
  readonly onAnswer: (pair: Pair, slot: number | null) => void;
}

/** Asks the main thread, which knows every client, for endpoints of rows with affinity. */
export class Sticking {
  readonly #of: StickingParts;
  readonly #pairs = new Map<number, Pair>();
  #lastQuestion = 0;

  constructor(of: StickingParts) {
    this.#of = of;
  }

  ask(pair: Pair, list: Pick<Extract<FromThread, { tell: 'stick' }>, 'row' | 'list'>): void {
    this.#lastQuestion += 1;
    pair.question = this.#lastQuestion;
    this.#pairs.set(pair.question, pair);
    const text = keyText(pair.client);
    const client = text.slice(0, text.indexOf(' '));
    const { tell, waits, clock } = this.#of;
    tell({ tell: 'stick', connection: pair.question, ...list, client, not: pair.tried ?? [] });
    waits.forAnswer(pair, clock());
    // A client that gives up meanwhile is noticed.
    this.#of.watchClient(pair);
  }

  /** Null: no endpoint is left. */
  answer(question: number, slot: number | null): void {
    const pair = this.#pairs.get(question);
    this.#pairs.delete(question);
    if (pair === undefined || pair.state !== STATE.waiting) return;
    pair.queue?.remove(pair);
    this.#of.onAnswer(pair, slot);
  }

  /** The main thread did not answer, or no descriptor became free, in time. */
  onLate(pair: Pair): void {
    this.#pairs.delete(pair.question);
    this.#of.counts.addOfThread('failed');
    this.#of.endings.reset(pair);
  }
}
