import type {
  FromThread,
  FrontendQuestion,
  ListId,
  Target,
  ThreadEndpoint,
  ToThread,
} from '../messages.ts';
import { clientAddress } from './client-text.ts';
import type { Counts } from './counts.ts';
import type { Dialler } from './dialler.ts';
import type { Endings } from './endings.ts';
import type { Frontend, Frontends } from './frontends.ts';
import type { Lists } from './lists.ts';
import { type Pair, STATE } from './pair.ts';
import type { Waits } from './waits.ts';

type ListChange = Extract<ToThread, { tell: 'list-change' }>;

interface QuestionParts {
  readonly frontends: Frontends;
  readonly lists: Lists;
  readonly endings: Endings;
  readonly counts: Counts;
  readonly waits: Waits;
  readonly clock: () => number;
  readonly tell: (message: FromThread) => void;
  readonly dialler: () => Dialler;
}

/** What the main thread is asked and has answered, with the pairs that wait for it. */
export class Questions {
  readonly #of: QuestionParts;
  readonly #waiting = new Map<Frontend, Pair[]>();
  readonly #sticking = new Map<number, Pair>();
  #lastQuestion = 0;

  constructor(of: QuestionParts) {
    this.#of = of;
  }

  /** A pair whose frontend was not asked for yet. */
  ask(pair: Pair): void {
    const { address, port, source } = pair.frontend;
    this.#of.tell({ tell: 'ask', frontend: { address, port, source } });
    this.wait(pair);
  }

  /** The answer is under way. */
  wait(pair: Pair): void {
    const waiting = this.#waiting.get(pair.frontend);
    if (waiting === undefined) this.#waiting.set(pair.frontend, [pair]);
    else waiting.push(pair);
    this.#beginWait(pair);
  }

  stick(pair: Pair): void {
    const { list } = pair;
    if (list === undefined) return;
    this.#lastQuestion += 1;
    pair.question = this.#lastQuestion;
    this.#sticking.set(pair.question, pair);
    const client = clientAddress(pair);
    const not = pair.tried ?? [];
    this.#of.tell({ tell: 'stick', connection: pair.question, list: list.id, client, not });
    this.#beginWait(pair);
  }

  answerStick(question: number, slot: number | null): void {
    const pair = this.#sticking.get(question);
    this.#sticking.delete(question);
    if (pair === undefined || pair.state !== STATE.waiting) return;
    pair.queue?.remove(pair);
    this.#of.dialler().dialSlot(pair, slot);
  }

  setTarget(question: FrontendQuestion, target: Target | null): void {
    const { frontends, lists, endings, counts } = this.#of;
    if (target === null) {
      const frontend = frontends.get(question);
      frontends.delete(question);
      for (const pair of this.#takeWaiting(frontend)) {
        counts.addOfThread('unknownFrontend');
        endings.reset(pair);
      }
      return;
    }
    const frontend = frontends.get(question) ?? frontends.add(question);
    const { masquerade, isSticky } = target;
    frontend.target = { list: lists.get(target.list), masquerade, isSticky };
    for (const pair of this.#takeWaiting(frontend)) {
      pair.queue?.remove(pair);
      this.#of.dialler().dial(pair);
    }
  }

  setList(id: ListId, endpoints: readonly ThreadEndpoint[]): void {
    const list = this.#of.lists.get(id);
    list.clear();
    for (const endpoint of endpoints) list.add(endpoint);
  }

  changeList(id: ListId, { added, removed }: Pick<ListChange, 'added' | 'removed'>): void {
    const list = this.#of.lists.get(id);
    for (const slot of removed) list.remove(slot);
    for (const endpoint of added) list.add(endpoint);
    if (removed.length === 0) return;
    const gone = new Set(removed);
    const redialled: Pair[] = [];
    this.#of.waits.forEachDialling((pair) => {
      if (pair.list === list && gone.has(pair.slot)) redialled.push(pair);
    });
    for (const pair of redialled) this.#of.dialler().redial(pair);
  }

  deleteList(id: ListId): void {
    this.#of.lists.delete(id);
  }

  /** The main thread did not answer in time. */
  onLate(pair: Pair): void {
    this.#sticking.delete(pair.question);
    this.#of.counts.addOfThread('failed');
    this.#of.endings.reset(pair);
  }

  /** Without those whose client gave up. */
  #takeWaiting(frontend: Frontend | undefined): Pair[] {
    const waiting = frontend === undefined ? undefined : this.#waiting.get(frontend);
    if (frontend !== undefined) this.#waiting.delete(frontend);
    return (waiting ?? []).filter(({ state }) => state === STATE.waiting);
  }

  #beginWait(pair: Pair): void {
    this.#of.waits.forAnswer(pair, this.#of.clock());
    // A client that gives up meanwhile is noticed.
    this.#of.dialler().watchClient(pair);
  }
}
