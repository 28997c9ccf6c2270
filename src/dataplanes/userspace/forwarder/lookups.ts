import type { WireTreatment } from '../protocol.ts';
import { type FrontendKey, familyOf, nodePortKey } from './frontend-index.ts';
import { ListDelivery } from './list-delivery.ts';
import type { FrontendQuestion, ListId, Target, ToThread } from './messages.ts';
import type { Row, RowStore } from './row-store.ts';
import type { ServedList } from './served-list.ts';
import type { ServedChange, ServedLists } from './served-lists.ts';

/** A thread as lookups know it. */
export interface LookupThread {
  send(message: ToThread): void;
}

export interface LookupsOptions {
  readonly rows: Pick<RowStore, 'find'>;
  readonly lists: ServedLists;
  /** How long a frontend may stay unknown before connections to it are reset. */
  readonly waitMs?: number | undefined;
  readonly listPartSize?: number | undefined;
}

/** Rows reach nftables and the forwarder milliseconds apart. */
const WAIT_MS = 1_000;
/** More are told at once that there is no such frontend. */
const MOST_WAITING = 10_000;

interface Asked {
  readonly question: FrontendQuestion;
  readonly threads: Set<LookupThread>;
  /** What all its threads were told. Undefined: they wait. */
  told: Found | undefined;
  giveUp: NodeJS.Timeout | undefined;
}

interface Found {
  readonly list: ServedList;
  readonly target: Target;
}

/** Answers the threads' questions for frontends, and answers again when the answer changes. */
export class Lookups {
  readonly #options: LookupsOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #askedByPort = new Map<FrontendKey, Set<Asked>>();
  /** For each list and thread, how many targets that it was told lead there. */
  readonly #uses = new Map<ListId, Map<LookupThread, number>>();
  readonly #delivery: ListDelivery;
  readonly #dirty = new Set<FrontendKey>();
  #waitingCount = 0;

  constructor(options: LookupsOptions) {
    this.#options = options;
    this.#delivery = new ListDelivery(options.listPartSize);
  }

  ask(thread: LookupThread, question: FrontendQuestion): void {
    const asked = this.#asked.get(nameOf(question)) ?? this.#first(question);
    if (asked.threads.has(thread)) {
      if (asked.told !== undefined) this.#sendTarget(thread, asked, asked.told.target);
      return;
    }
    const found = asked.told ?? this.#find(question);
    asked.threads.add(thread);
    if (found === undefined) this.#wait(asked);
    else if (asked.told === undefined) this.#tellAll(asked, found);
    else this.#tell(thread, asked, found);
  }

  /** Its questions are answered anew by the next `flush`. */
  frontendChanged(frontend: FrontendKey): void {
    this.#dirty.add(frontend);
  }

  /** After a group of changes: an address that moves from one row to another changes once. */
  flush(): void {
    for (const frontend of this.#dirty) {
      for (const asked of this.#affectedBy(frontend)) this.#answerAnew(asked);
    }
    this.#dirty.clear();
  }

  listChanged({ list, added, removed }: ServedChange): void {
    if (list === undefined) return;
    for (const thread of this.#uses.get(list.id)?.keys() ?? []) {
      this.#delivery.change(thread, { tell: 'list-change', list: list.id, added, removed });
    }
  }

  close(): void {
    for (const { giveUp } of this.#asked.values()) clearTimeout(giveUp);
  }

  #first(question: FrontendQuestion): Asked {
    const asked: Asked = { question, threads: new Set(), told: undefined, giveUp: undefined };
    this.#asked.set(nameOf(question), asked);
    const port = portKeyOf(question);
    const ofPort = this.#askedByPort.get(port);
    if (ofPort === undefined) this.#askedByPort.set(port, new Set([asked]));
    else ofPort.add(asked);
    return asked;
  }

  #forget(asked: Asked): void {
    if (asked.giveUp !== undefined) {
      clearTimeout(asked.giveUp);
      asked.giveUp = undefined;
      this.#waitingCount--;
    }
    this.#asked.delete(nameOf(asked.question));
    const port = portKeyOf(asked.question);
    const ofPort = this.#askedByPort.get(port);
    ofPort?.delete(asked);
    if (ofPort?.size === 0) this.#askedByPort.delete(port);
  }

  #find(question: FrontendQuestion): Found | undefined {
    const claim = this.#options.rows.find(question);
    const treatment = claim?.frontend.treatments[question.source] ?? null;
    return claim === undefined || treatment === null
      ? undefined
      : this.#found(claim.row, treatment);
  }

  #found(row: Row, { list: kind, masquerade }: NonNullable<WireTreatment>): Found {
    const list = this.#options.lists.serve(row, kind);
    return { list, target: { list: list.id, masquerade, isSticky: row.affinitySeconds > 0 } };
  }

  /** Questions for the very address, or for a node port on any address. */
  *#affectedBy(frontend: FrontendKey): Generator<Asked> {
    const ofPort = this.#askedByPort.get(frontend);
    if (ofPort !== undefined) yield* [...ofPort];
    for (const source of ['pod', 'host', 'outside']) {
      const asked = this.#asked.get(`${source} ${frontend}`);
      if (asked !== undefined) yield asked;
    }
  }

  #answerAnew(asked: Asked): void {
    const found = this.#find(asked.question);
    if (found === undefined) {
      if (asked.told !== undefined) this.#tellGone(asked);
      return;
    }
    const { told } = asked;
    if (told === undefined || !isSame(told.target, found.target)) this.#tellAll(asked, found);
  }

  #wait(asked: Asked): void {
    if (asked.giveUp !== undefined) return;
    if (this.#waitingCount >= MOST_WAITING) {
      this.#tellGone(asked);
      return;
    }
    this.#waitingCount++;
    const { waitMs = WAIT_MS } = this.#options;
    asked.giveUp = setTimeout(() => this.#tellGone(asked), waitMs).unref();
  }

  /** The next connection asks again, so nothing is kept of what does not exist. */
  #tellGone(asked: Asked): void {
    this.#forget(asked);
    const { told } = asked;
    asked.told = undefined;
    for (const thread of asked.threads) {
      this.#sendTarget(thread, asked, null);
      if (told !== undefined) this.#unuse(thread, told.list);
    }
  }

  #tellAll(asked: Asked, found: Found): void {
    if (asked.giveUp !== undefined) {
      clearTimeout(asked.giveUp);
      asked.giveUp = undefined;
      this.#waitingCount--;
    }
    const { told } = asked;
    asked.told = found;
    for (const thread of asked.threads) {
      this.#tell(thread, asked, found);
      if (told !== undefined) this.#unuse(thread, told.list);
    }
  }

  #tell(thread: LookupThread, asked: Asked, { list, target }: Found): void {
    const uses = this.#uses.get(list.id) ?? new Map<LookupThread, number>();
    const count = uses.get(thread) ?? 0;
    if (count === 0) {
      this.#delivery.begin(thread, list.id, this.#options.lists.endpoints(list));
    }
    if (target.isSticky) this.#delivery.complete(thread, list.id);
    uses.set(thread, count + 1);
    this.#uses.set(list.id, uses);
    this.#sendTarget(thread, asked, target);
  }

  #unuse(thread: LookupThread, list: ServedList): void {
    const uses = this.#uses.get(list.id);
    const count = uses?.get(thread) ?? 0;
    if (uses === undefined || count === 0) return;
    if (count > 1) {
      uses.set(thread, count - 1);
      return;
    }
    uses.delete(thread);
    this.#delivery.stop(thread, list.id);
    thread.send({ tell: 'list-gone', list: list.id });
    if (uses.size > 0) return;
    this.#uses.delete(list.id);
    this.#options.lists.retire(list);
  }

  #sendTarget(thread: LookupThread, { question }: Asked, target: Target | null): void {
    thread.send({ tell: 'target', frontend: question, target });
  }
}

function nameOf({ source, address, port }: FrontendQuestion): string {
  return `${source} ${address} ${port}`;
}

function portKeyOf({ address, port }: FrontendQuestion): FrontendKey {
  return nodePortKey(familyOf(address), port);
}

function isSame(a: Target, b: Target): boolean {
  return a.list === b.list && a.masquerade === b.masquerade && a.isSticky === b.isSticky;
}
