import { constants } from 'node:os';
import { EPOLLERR, EPOLLHUP, EPOLLOUT } from '../../../../linux/sockets/constants.ts';
import { close } from '../../../../linux/sockets/libc.ts';
import { COUNT } from '../slots.ts';
import type { Avoidance } from './avoidance.ts';
import { type ChoiceOf, choose } from './choose.ts';
import type { Counts } from './counts.ts';
import type { Endings } from './endings.ts';
import type { EndpointSockets } from './endpoint-socket.ts';
import type { ListedEndpoint } from './lists.ts';
import { NONE, type Pair, STATE } from './pair.ts';
import type { SocketTable } from './socket-table.ts';
import type { Sources } from './sources.ts';
import type { Waits } from './waits.ts';

const MOST_DIALS = 3;
const { EADDRINUSE, EADDRNOTAVAIL, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM } = constants.errno;
/** Failures of this machine: the endpoint is not to blame. */
const OUR_FAILURES: ReadonlySet<number> = new Set([
  // The client's address cannot be used, or none of its ports.
  EADDRINUSE,
  EADDRNOTAVAIL,
  EINVAL,
  EMFILE,
  ENFILE,
  ENOBUFS,
  ENOMEM,
]);

interface DiallerParts {
  readonly counts: Counts;
  readonly avoidance: Avoidance;
  readonly endings: Endings;
  readonly sockets: SocketTable;
  readonly endpointSockets: EndpointSockets;
  /** Undefined: answers to clients' addresses would not come home. */
  readonly sources: Sources | undefined;
  readonly waits: Waits;
  readonly clock: () => number;
  /** Asks the main thread for the endpoint of a client. */
  readonly askToStick: (pair: Pair) => void;
  /** With the event that told of it. */
  readonly onOpen: (pair: Pair, mask: number) => void;
  /** The pair is to be dialled again when there are some. */
  readonly onNoDescriptors: (pair: Pair) => void;
}

/** Connects pairs to endpoints: another one after a failure, until one accepts or none is left. */
export class Dialler {
  readonly #of: DiallerParts;
  readonly #choiceOf: ChoiceOf;

  constructor(of: DiallerParts) {
    this.#of = of;
    this.#choiceOf = { counts: of.counts, avoidance: of.avoidance, random: Math.random };
  }

  /** The first or the next endpoint of a pair whose frontend has a target. */
  dial(pair: Pair): void {
    const { target } = pair.frontend;
    if (target === undefined || pair.dialCount === MOST_DIALS) {
      this.#giveUp(pair);
      return;
    }
    pair.list = target.list;
    if (target.isSticky) {
      this.#of.askToStick(pair);
      return;
    }
    const nowMs = this.#of.clock();
    const endpoint = choose(this.#choiceOf, target.list, { tried: pair.tried, nowMs });
    if (endpoint === undefined) {
      this.#giveUp(pair);
      return;
    }
    this.#connect(pair, endpoint, nowMs);
  }

  /** The answer of the main thread; null: no endpoint is left. */
  dialSlot(pair: Pair, slot: number | null): void {
    if (slot === null) {
      this.#giveUp(pair);
      return;
    }
    const endpoint = pair.list?.withSlot(slot);
    if (endpoint !== undefined) {
      this.#connect(pair, endpoint, this.#of.clock());
      return;
    }
    // It left the list after the answer.
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

  /** Its endpoint left the list, which is no failure of it. */
  redial(pair: Pair): void {
    const { slot } = pair;
    this.#hangUp(pair);
    this.#noteTried(pair, slot);
    pair.dialCount -= 1;
    this.dial(pair);
  }

  #connect(pair: Pair, endpoint: ListedEndpoint, nowMs: number): void {
    const { endpointSockets, counts, avoidance, sockets, waits } = this.#of;
    pair.dialCount += 1;
    avoidance.noteTrial(endpoint.slot, nowMs);
    const fd = endpointSockets.connect(pair, endpoint, this.#keepsClient(pair, endpoint, nowMs));
    if (fd < 0) {
      this.#failAtOnce(pair, endpoint, -fd);
      return;
    }
    pair.state = STATE.dialling;
    pair.slot = endpoint.slot;
    counts.changeOpen(pair.slot, 1);
    pair.endpoint = endpoint;
    pair.dialledAtMs = nowMs;
    pair.toClient.from = fd;
    pair.toEndpoint.to = fd;
    waits.whileDialling(pair, this.#isLastCandidate(pair), nowMs);
    sockets.watch(pair.toClient);
    // A client that gives up during a second attempt, which may take seconds, is noticed.
    if (pair.dialCount > 1) this.watchClient(pair);
  }

  watchClient(pair: Pair): void {
    if (pair.isClientWatched) return;
    pair.isClientWatched = true;
    this.#of.sockets.watch(pair.toEndpoint);
  }

  #isLastCandidate(pair: Pair): boolean {
    return (pair.list?.endpoints.length ?? 0) - (pair.tried?.length ?? 0) <= 1;
  }

  #keepsClient(pair: Pair, endpoint: ListedEndpoint, nowMs: number): boolean {
    const { sources } = this.#of;
    if (sources === undefined || pair.frontend.target?.masquerade !== false) return false;
    return sources.canKeep(clientBytes(pair), endpoint.addressBytes, nowMs);
  }

  #failAtOnce(pair: Pair, endpoint: ListedEndpoint, failed: number): void {
    const { counts, avoidance, clock, onNoDescriptors } = this.#of;
    if (failed === EMFILE || failed === ENFILE) {
      pair.dialCount -= 1;
      onNoDescriptors(pair);
      return;
    }
    this.#noteTried(pair, endpoint.slot);
    if (!OUR_FAILURES.has(failed)) {
      counts.add(endpoint.slot, COUNT.refused, 1);
      avoidance.noteFailure(endpoint.slot, clock());
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
    pair.endpoint = undefined;
    pair.toClient.from = NONE;
    pair.toEndpoint.to = NONE;
    pair.state = STATE.waiting;
  }

  #giveUp(pair: Pair): void {
    this.#of.counts.addOfThread('failed');
    this.#of.endings.reset(pair);
  }
}

function clientBytes(pair: Pair): string {
  if (pair.isIPv6) return pair.clientIPv6;
  const ip = pair.clientIPv4;
  return String.fromCharCode(ip >>> 24, (ip >>> 16) & 0xff, (ip >>> 8) & 0xff, ip & 0xff);
}
