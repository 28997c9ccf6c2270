import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { RouteLookup } from '../../../../linux/route/lookup-now.ts';
import { AddressCalls } from '../../../../linux/sockets/address-calls.ts';
import { EPOLLERR, EPOLLHUP, EPOLLIN } from '../../../../linux/sockets/constants.ts';
import { Epoll } from '../../../../linux/sockets/epoll.ts';
import { EventfdCalls } from '../../../../linux/sockets/eventfd.ts';
import { setKeepalive } from '../../../../linux/sockets/keepalive.ts';
import { SocketOptions } from '../../../../linux/sockets/options.ts';
import type { FromThread, ThreadStart, ToThread } from '../messages.ts';
import { openSharedClock } from '../shared-clock.ts';
import { Acceptor } from './acceptor.ts';
import { Avoidance } from './avoidance.ts';
import { Blocks } from './blocks.ts';
import { Copier } from './copier.ts';
import { Counts } from './counts.ts';
import { Dialler } from './dialler.ts';
import { Endings } from './endings.ts';
import { EndpointSockets } from './endpoint-socket.ts';
import { Frontends } from './frontends.ts';
import { handleMessage } from './inbox.ts';
import { Lists } from './lists.ts';
import { MovingPairs } from './moving-pairs.ts';
import { type Pair, STATE } from './pair.ts';
import { Questions } from './questions.ts';
import { SocketTable } from './socket-table.ts';
import { Sources } from './sources.ts';
import { Waits } from './waits.ts';

const MOST_EVENTS = 512;

/** The parts of a copying thread, put together. */
export class CopyingThread implements Disposable {
  readonly #start: ThreadStart;
  readonly #clock = openSharedClock();
  readonly #epoll = new Epoll(MOST_EVENTS);
  readonly #wake = new EventfdCalls();
  readonly #lookup = new RouteLookup();
  readonly #calls = new AddressCalls();
  readonly #options = new SocketOptions();
  readonly #waits = new Waits();
  readonly #sockets = new SocketTable(this.#epoll);
  readonly #endings: Endings;
  readonly #copier: Copier;
  readonly #dialler: Dialler;
  readonly #questions: Questions;
  readonly #acceptor: Acceptor;
  readonly #moving: MovingPairs;
  readonly #port: MessagePort;
  /** Accepted, but without a descriptor for their endpoint. */
  #starved: Pair[] = [];
  #isStopped = false;

  constructor(start: ThreadStart) {
    this.#start = start;
    this.#port = start.port;
    const clock = this.#clock;
    const [sockets, options, calls, waits] = [
      this.#sockets,
      this.#options,
      this.#calls,
      this.#waits,
    ];
    const tell = (message: FromThread): void => this.#port.postMessage(message);
    const counts = new Counts(start);
    const blocks = new Blocks();
    const endings = new Endings({ sockets, options, counts, blocks });
    this.#endings = endings;
    this.#copier = new Copier({ blocks, counts, endings, options });
    const frontends = new Frontends();
    const lists = new Lists();
    const dialler = (): Dialler => this.#dialler;
    const asking = { frontends, lists, endings, counts, waits, clock, tell, dialler };
    this.#questions = new Questions(asking);
    this.#dialler = new Dialler({
      counts,
      endings,
      sockets,
      waits,
      clock,
      avoidance: new Avoidance(start.avoided),
      endpointSockets: new EndpointSockets(options),
      sources: start.keepsClientAddress ? new Sources(this.#lookup) : undefined,
      askToStick: (pair) => this.#questions.stick(pair),
      onOpen: (pair, mask) => this.#open(pair, mask),
      onNoDescriptors: (pair) => this.#starve(pair),
    });
    const { mostConnections } = start;
    const accepting = { epoll: this.#epoll, calls, options, counts, frontends, clock };
    const onPair = (pair: Pair): void => this.#begin(pair);
    const onUnknown = (pair: Pair): void => this.#ask(pair);
    const openCount = (): number => endings.pairs.size;
    const limits = { mostConnections, openCount };
    this.#acceptor = new Acceptor({ ...accepting, ...limits, onPair, onUnknown }, start);
    this.#moving = new MovingPairs({ sockets, endings, counts, calls, options });
  }

  /** Returns when the main thread tells it to stop. */
  run(): void {
    this.#epoll.add(this.#start.wakeFd, EPOLLIN, 0);
    this.#acceptor.refresh(this.#clock());
    this.#port.postMessage({ tell: 'ready' } satisfies FromThread);
    const late = {
      dial: (pair: Pair) => this.#dialler.onLate(pair),
      answer: (pair: Pair) => this.#questions.onLate(pair),
      old: (pair: Pair) => this.#probe(pair),
    };
    while (!this.#isStopped) {
      const askedAtMs = this.#clock();
      const count = this.#epoll.wait(this.#timeoutMs(askedAtMs));
      for (let index = 0; index < count && !this.#isStopped; index++) this.#onEvent(index);
      if (this.#copier.hasDue) this.#copier.pumpDue();
      // Events that did not fit into the batch may be about those that seem late.
      if (count < MOST_EVENTS) this.#waits.handleLate(askedAtMs, late);
      if (this.#starved.length > 0) this.#dialStarved(askedAtMs);
      this.#acceptor.refresh(askedAtMs);
    }
  }

  [Symbol.dispose](): void {
    this.#epoll[Symbol.dispose]();
    this.#lookup[Symbol.dispose]();
  }

  #timeoutMs(nowMs: number): number {
    if (this.#copier.hasDue) return 0;
    return Math.min(this.#waits.timeoutMs(nowMs), this.#acceptor.timeoutMs(nowMs));
  }

  #onEvent(index: number): void {
    const fd = this.#epoll.fdAt(index);
    const stream = this.#sockets.find(fd, this.#epoll.tagAt(index));
    if (stream === undefined) {
      this.#onOtherEvent(fd);
      return;
    }
    const mask = this.#epoll.maskAt(index);
    const { pair } = stream;
    if (pair.state === STATE.open) {
      this.#copier.onEvent(stream, mask);
      return;
    }
    if (stream === pair.toClient) {
      if (pair.state === STATE.dialling) this.#dialler.onEvent(pair, mask);
    } else if ((mask & (EPOLLERR | EPOLLHUP)) !== 0) this.#endings.reset(pair);
  }

  #onOtherEvent(fd: number): void {
    if (fd === this.#start.wakeFd) this.#receive();
    else this.#acceptor.onEvent(fd);
  }

  #receive(): void {
    this.#wake.clear(this.#start.wakeFd);
    const parts = {
      questions: this.#questions,
      endings: this.#endings,
      acceptor: this.#acceptor,
      moving: this.#moving,
      calls: this.#calls,
      tell: (message: FromThread) => this.#port.postMessage(message),
    };
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { message: ToThread } | undefined;
      if (received === undefined) return;
      if (handleMessage(parts, received.message)) continue;
      this.#isStopped = true;
      return;
    }
  }

  #begin(pair: Pair): void {
    this.#endings.begin(pair);
    if (pair.frontend.target === undefined) this.#questions.wait(pair);
    else this.#dialler.dial(pair);
  }

  #ask(pair: Pair): void {
    this.#endings.begin(pair);
    this.#questions.ask(pair);
  }

  #starve(pair: Pair): void {
    this.#acceptor.pause();
    this.#starved.push(pair);
    this.#waits.forAnswer(pair, this.#clock());
    this.#dialler.watchClient(pair);
  }

  #dialStarved(nowMs: number): void {
    if (this.#acceptor.isPaused(nowMs)) return;
    const starved = this.#starved;
    this.#starved = [];
    for (const pair of starved) {
      if (pair.state !== STATE.waiting) continue;
      pair.queue?.remove(pair);
      this.#dialler.dial(pair);
    }
  }

  /** An endpoint that speaks first may have done so in the event that told of the connection. */
  #open(pair: Pair, mask: number): void {
    this.#copier.onEvent(pair.toClient, mask);
    if (pair.state !== STATE.open) return;
    // What it sends from now on is reported when it is watched, or has an event already.
    this.#copier.pump(pair.toEndpoint, pair.isClientWatched);
    if (pair.state === STATE.open) this.#dialler.watchClient(pair);
  }

  /** An idle connection outlives its endpoint's machine unless the kernel asks it. */
  #probe(pair: Pair): void {
    setKeepalive(this.#options, pair.endpointFd);
  }
}
