import { constants } from 'node:os';
import { EPOLLERR, EPOLLHUP, EPOLLOUT } from '../../../../../linux/sockets/constants.ts';
import { close } from '../../../../../linux/sockets/libc.ts';
import { isNoRoom } from '../../../../../linux/userspace/no-room.ts';
import { type ChoiceBy, choose } from '../choose.ts';
import type { RowReader } from '../row-reader.ts';
import { COUNT } from '../slots.ts';
import type { Avoidance } from './avoidance.ts';
import type { Counts } from './counts.ts';
import type { Endings } from './endings.ts';
import type { EndpointSockets } from './endpoint-socket.ts';
import type { Endpoints } from './endpoints.ts';
import { NONE, type Pair, STATE } from './pair.ts';
import type { SocketTable } from './socket-table.ts';
import type { Sources } from './sources.ts';
import type { Sticking } from './sticking.ts';
import type { Waits } from './waits.ts';

const MOST_DIALS = 3;
/** After that a frontend that is unknown does not come. */
const MOST_ROW_WAIT_MS = 1_000;
const { EADDRINUSE, EADDRNOTAVAIL, EINVAL, EMFILE, ENFILE } = constants.errno;
/** The client's address cannot be used, or none of its ports: the endpoint is not to blame. */
const SOURCE_FAILURES: ReadonlySet<number> = new Set([EADDRINUSE, EADDRNOTAVAIL, EINVAL]);

interface DiallerParts {
  readonly rows: RowReader;
  readonly endpoints: Endpoints;
  readonly counts: Counts;
  readonly avoidance: Avoidance;
  readonly endings: Endings;
  readonly sockets: SocketTable;
  readonly endpointSockets: EndpointSockets;
  /** Undefined: answers to clients' addresses would not come home. */
  readonly sources: Sources | undefined;
  readonly waits: Waits;
  readonly sticking: Sticking;
  readonly clock: () => number;
  /** With the event that told of it. */
  readonly onOpen: (pair: Pair, mask: number) => void;
  /** The pair is to be dialled again when there are some. */
  readonly onNoDescriptors: (pair: Pair) => void;
  /** The kernel could not watch a socket of the pair, which was reset. */
  readonly onNoRoom: () => void;
}

/** Connects pairs to endpoints: another one after a failure, until one accepts or none is left. */
export class Dialler {
  readonly #of: DiallerParts;
  readonly #choiceBy: ChoiceBy;

  constructor(of: DiallerParts) {
    this.#of = of;
    const { counts, avoidance } = of;
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
    const { rows, sticking, clock } = this.#of;
    const nowMs = clock();
    const slot = this.#choose(pair, nowMs);
    if (slot === 'unknown') this.#waitForRow(pair, nowMs);
    else if (slot === 'ask') sticking.ask(pair, { row: rows.row, list: rows.list });
    else if (slot === undefined) this.#giveUp(pair);
    else this.#connect(pair, slot, nowMs);
  }

  /** The answer of the main thread; null: no endpoint is left. */
  dialSlot(pair: Pair, slot: number | null): void {
    if (slot === null) {
      this.#giveUp(pair);
      return;
    }
    const { rows, counts, endpoints, clock } = this.#of;
    rows.find(pair.frontend, pair.source);
    counts.changeOpen(slot, 1);
    if (endpoints.owner(slot) !== 0) {
      this.#connect(pair, slot, clock());
      return;
    }
    // It left its row after the answer.
    counts.changeOpen(slot, -1);
    pair.dialCount += 1;
    this.#noteTried(pair, slot);
    this.dial(pair);
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
    waits.whileYoung(pair, nowMs);
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
      this.#noteTried(pair, pair.slot);
      this.#hangUp(pair);
      pair.dialCount -= 1;
      this.dial(pair);
    }
  }

  #waitForRow(pair: Pair, nowMs: number): void {
    if (pair.dialCount > 0) this.#giveUp(pair);
    else if (nowMs - pair.openedAtMs >= MOST_ROW_WAIT_MS) this.#giveUp(pair, 'unknownFrontend');
    else {
      this.#of.waits.forRow(pair, nowMs);
      // A client that gives up meanwhile is noticed.
      this.watchClient(pair);
    }
  }

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
    const { sources, endpoints } = this.#of;
    if (sources === undefined || pair.masquerade) return false;
    return sources.canKeep(pair.client, endpoints.key(slot, pair.isIPv6), nowMs);
  }

  #failAtOnce(pair: Pair, slot: number, failed: number): void {
    const { counts, avoidance, clock, onNoDescriptors } = this.#of;
    if (failed === EMFILE || failed === ENFILE) {
      pair.dialCount -= 1;
      onNoDescriptors(pair);
      return;
    }
    this.#noteTried(pair, slot);
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
    this.#noteTried(pair, slot);
    this.#hangUp(pair);
    this.dial(pair);
  }

  #noteTried(pair: Pair, slot: number): void {
    if (pair.tried === undefined) pair.tried = [slot];
    else pair.tried.push(slot);
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
