import { constants } from 'node:os';
import { EPOLLERR, EPOLLHUP, EPOLLOUT } from '../../../../../linux/sockets/socket-constants.ts';
import { close } from '../../../../../linux/sockets/socket-libc.ts';
import { isNoRoom } from '../../../../../linux/userspace/no-room.ts';
import { keyText } from '../address-key.ts';
import { type ChoiceBy, choose } from '../choose.ts';
import type { RowReader } from '../row-memory.ts';
import { COUNT } from '../slots.ts';
import type { FromThread } from '../thread-messages.ts';
import type { Avoidance } from './avoidance.ts';
import type { Endings } from './endings.ts';
import type { EndpointSockets } from './endpoint-socket.ts';
import { NONE, type Pair, STATE } from './pair.ts';
import type { SocketTable } from './socket-table.ts';
import type { Sources } from './source-addresses.ts';
import type { Counts } from './thread-counts.ts';
import type { Waits } from './waits.ts';

const MOST_DIALS = 3;
/** After that a frontend that is unknown does not come. */
const MOST_ROW_WAIT_MS = 1_000;
/** So long others have to free a descriptor. */
const MOST_DESCRIPTOR_WAIT_MS = 5_000;
const { EADDRINUSE, EADDRNOTAVAIL, EINVAL, EMFILE, ENFILE } = constants.errno;
/** The client's address cannot be used, or none of its ports: the endpoint is not to blame. */
const SOURCE_FAILURES: ReadonlySet<number> = new Set([EADDRINUSE, EADDRNOTAVAIL, EINVAL]);

interface DiallerParts {
  readonly rows: RowReader;
  readonly counts: Counts;
  readonly avoidance: Avoidance;
  readonly endings: Endings;
  readonly sockets: SocketTable;
  readonly endpointSockets: EndpointSockets;
  /** Undefined: answers to clients' addresses would not come home. */
  readonly sources: Sources | undefined;
  readonly waits: Waits;
  readonly clock: () => number;
  readonly tell: (message: FromThread) => void;
  /** With the event that told of it. */
  readonly onOpen: (pair: Pair, mask: number) => void;
  /** The kernel has no descriptor for a pair, or cannot watch a socket of it. */
  readonly onNoRoom: () => void;
}

/** Connects pairs to endpoints: another one after a failure, until one accepts or none is left. */
export class Dialler {
  readonly #of: DiallerParts;
  readonly #choiceBy: ChoiceBy;
  /** Pairs for which the main thread was asked, by question. */
  readonly #asked = new Map<number, Pair>();
  #lastQuestion = 0;

  constructor(parts: DiallerParts) {
    this.#of = parts;
    const { counts, avoidance } = parts;
    this.#choiceBy = {
      open: (slot) => counts.open(slot),
      isAvoided: (slot, nowMs) => avoidance.isAvoided(slot, nowMs),
      random: Math.random,
    };
  }

  /** The first or the next endpoint of a pair. */
  dial(pair: Pair): void {
    if (pair.dialCount === MOST_DIALS) {
      this.#giveUp(pair);
      return;
    }
    const nowMs = this.#of.clock();
    const slot = this.#choose(pair, nowMs);
    if (slot === 'unknown') this.#waitForRow(pair, nowMs);
    else if (slot === 'ask') this.#ask(pair, nowMs);
    else if (slot === undefined) this.#giveUp(pair);
    else this.#connect(pair, slot, nowMs);
  }

  /** Of the main thread. Null: no endpoint is left; else the slot counts the pair already. */
  onAnswer(question: number, slot: number | null): void {
    const pair = this.#asked.get(question);
    this.#asked.delete(question);
    const { rows, counts, clock } = this.#of;
    if (pair === undefined || pair.state !== STATE.waiting) {
      if (slot !== null) counts.changeOpen(slot, -1);
      return;
    }
    pair.queue?.remove(pair);
    if (slot === null) {
      this.#giveUp(pair);
      return;
    }
    rows.find(pair.frontend, pair.source);
    this.#connect(pair, slot, clock());
  }

  /** The main thread did not answer in time. */
  onLateAnswer(pair: Pair): void {
    this.#asked.delete(pair.question);
    this.#giveUp(pair);
  }

  /** An event at the socket of an endpoint that has not accepted yet. */
  onEvent(pair: Pair, mask: number): void {
    if ((mask & (EPOLLERR | EPOLLHUP)) !== 0) {
      this.#fail(pair, COUNT.refused);
      return;
    }
    if ((mask & EPOLLOUT) === 0) return;
    const { counts, avoidance, clock, waits, onOpen } = this.#of;
    const nowMs = clock();
    pair.state = STATE.open;
    counts.addConnection(pair.slot, nowMs - pair.dialledAtMs);
    avoidance.noteSuccess(pair.slot);
    waits.young.add(pair, nowMs);
    onOpen(pair, mask);
  }

  onLate(pair: Pair): void {
    this.#fail(pair, COUNT.timedOut);
  }

  /** These endpoints left their rows, which is no failure of them. */
  redialFrom(gone: ReadonlySet<number>): void {
    const redialled: Pair[] = [];
    this.#of.waits.forEachDialling((pair) => {
      if (gone.has(pair.slot)) redialled.push(pair);
    });
    for (const pair of redialled) {
      pair.tried = [...(pair.tried ?? []), pair.slot];
      this.#hangUp(pair);
      pair.dialCount -= 1;
      this.dial(pair);
    }
  }

  /** The main thread, which knows every client, for the endpoint of one with affinity. */
  #ask(pair: Pair, nowMs: number): void {
    const { rows, tell, waits } = this.#of;
    this.#lastQuestion += 1;
    pair.question = this.#lastQuestion;
    this.#asked.set(pair.question, pair);
    const text = keyText(pair.client);
    const client = text.slice(0, text.indexOf(' '));
    const { row, list } = rows;
    tell({ tell: 'stick', connection: pair.question, row, list, client, not: pair.tried ?? [] });
    waits.answers.add(pair, nowMs);
    this.watchClient(pair);
  }

  #waitForRow(pair: Pair, nowMs: number): void {
    if (pair.dialCount > 0) this.#giveUp(pair);
    else if (nowMs - pair.openedAtMs >= MOST_ROW_WAIT_MS) this.#giveUp(pair, 'unknownFrontend');
    else this.#waitForRetry(pair, nowMs);
  }

  #waitForDescriptor(pair: Pair, nowMs: number): void {
    this.#of.onNoRoom();
    if (nowMs - pair.openedAtMs >= MOST_DESCRIPTOR_WAIT_MS) this.#giveUp(pair);
    else this.#waitForRetry(pair, nowMs);
  }

  #waitForRetry(pair: Pair, nowMs: number): void {
    this.#of.waits.retries.add(pair, nowMs);
    this.watchClient(pair);
  }

  /** A client that gives up while its pair waits is noticed. */
  watchClient(pair: Pair): void {
    if (pair.isClientWatched) return;
    pair.isClientWatched = true;
    if (!this.#of.sockets.watch(pair.toEndpoint)) this.#noRoom(pair);
  }

  /** It counts as a connection of the slot from here on: the main thread sees either that, or we its end. */
  #choose(pair: Pair, nowMs: number): number | 'ask' | 'unknown' | undefined {
    const { rows, counts } = this.#of;
    for (;;) {
      const version = rows.begin();
      const isFound = rows.find(pair.frontend, pair.source);
      const isOurs = isFound && !rows.isSticky;
      const slot = isOurs ? choose(this.#choiceBy, rows, { tried: pair.tried, nowMs }) : undefined;
      if (slot !== undefined) counts.changeOpen(slot, 1);
      if (rows.isCurrent(version)) {
        if (!isFound) return 'unknown';
        pair.masquerade = rows.masquerade;
        return rows.isSticky ? 'ask' : slot;
      }
      if (slot !== undefined) counts.changeOpen(slot, -1);
    }
  }

  /** Its slot counts the pair already. */
  #connect(pair: Pair, slot: number, nowMs: number): void {
    const { endpointSockets, counts, avoidance, sockets, waits, rows } = this.#of;
    pair.dialCount += 1;
    avoidance.noteTrial(slot, nowMs);
    const fd = endpointSockets.connect(pair, slot, this.#keepsClient(pair, slot, nowMs));
    if (fd < 0) {
      counts.changeOpen(slot, -1);
      this.#failAtOnce(pair, slot, -fd);
      return;
    }
    pair.state = STATE.dialling;
    pair.slot = slot;
    pair.dialledAtMs = nowMs;
    pair.toClient.from = fd;
    pair.toEndpoint.to = fd;
    const isLastCandidate = rows.size - (pair.tried?.length ?? 0) <= 1;
    waits.whileDialling(pair, isLastCandidate, nowMs);
    if (!sockets.watch(pair.toClient)) this.#noRoom(pair);
    // A client that gives up during a second attempt, which may take seconds, is noticed.
    else if (pair.dialCount > 1) this.watchClient(pair);
  }

  #keepsClient(pair: Pair, slot: number, nowMs: number): boolean {
    const { sources, endpointSockets } = this.#of;
    if (sources === undefined || pair.masquerade) return false;
    return sources.canKeep(pair.client, endpointSockets.keyOf(slot, pair.isIPv6), nowMs);
  }

  #failAtOnce(pair: Pair, slot: number, failed: number): void {
    const { counts, avoidance, clock } = this.#of;
    if (failed === EMFILE || failed === ENFILE) {
      pair.dialCount -= 1;
      this.#waitForDescriptor(pair, clock());
      return;
    }
    pair.tried = [...(pair.tried ?? []), slot];
    if (!SOURCE_FAILURES.has(failed) && !isNoRoom(failed)) {
      counts.add(slot, COUNT.refused, 1);
      avoidance.noteFailure(slot, clock());
    }
    this.dial(pair);
  }

  #fail(pair: Pair, field: number): void {
    const { slot } = pair;
    const { counts, avoidance, clock } = this.#of;
    counts.add(slot, field, 1);
    avoidance.noteFailure(slot, clock());
    pair.tried = [...(pair.tried ?? []), slot];
    this.#hangUp(pair);
    this.dial(pair);
  }

  #hangUp(pair: Pair): void {
    const { sockets, counts } = this.#of;
    pair.queue?.remove(pair);
    sockets.forget(pair.toClient);
    close(pair.endpointFd);
    counts.changeOpen(pair.slot, -1);
    pair.slot = NONE;
    pair.toClient.from = NONE;
    pair.toEndpoint.to = NONE;
    pair.state = STATE.waiting;
  }

  #noRoom(pair: Pair): void {
    this.#giveUp(pair);
    this.#of.onNoRoom();
  }

  #giveUp(pair: Pair, as: 'failed' | 'unknownFrontend' = 'failed'): void {
    this.#of.counts.addOfThread(as);
    this.#of.endings.reset(pair);
  }
}
