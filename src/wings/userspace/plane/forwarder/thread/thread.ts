import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { RouteLookup } from '../../../../../linux/route/lookup-now.ts';
import { AddressCalls } from '../../../../../linux/sockets/address-calls.ts';
import { EPOLLERR, EPOLLHUP, EPOLLIN } from '../../../../../linux/sockets/constants.ts';
import { setKeepalive } from '../../../../../linux/sockets/keepalive.ts';
import { SocketOptions } from '../../../../../linux/sockets/options.ts';
import { Epoll } from '../../../../../linux/userspace/epoll.ts';
import { EventfdCalls } from '../../../../../linux/userspace/eventfd.ts';
import type { FromThread, ThreadStart, ToThread } from '../messages.ts';
import { RowReader } from '../row-reader.ts';
import { openSharedClock } from '../shared-clock.ts';
import { Acceptor } from './acceptor.ts';
import { Avoidance } from './avoidance.ts';
import { Blocks } from './blocks.ts';
import { Copier } from './copier.ts';
import { Counts } from './counts.ts';
import { Dialler } from './dialler.ts';
import { Endings } from './endings.ts';
import { EndpointSockets } from './endpoint-socket.ts';
import { Endpoints } from './endpoints.ts';
import { handleMessage } from './inbox.ts';
import { MovingPairs } from './moving-pairs.ts';
import { type Pair, STATE } from './pair.ts';
import { SocketTable } from './socket-table.ts';
import { Sources } from './sources.ts';
import { Sticking } from './sticking.ts';
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
  readonly #waits: Waits;
  readonly #sockets = new SocketTable(this.#epoll);
  readonly #endings: Endings;
  readonly #copier: Copier;
  readonly #dialler: Dialler;
  readonly #sticking: Sticking;
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
    const waits = new Waits(start.halfClosedMs);
    this.#waits = waits;
    const [sockets, options, calls] = [this.#sockets, this.#options, this.#calls];
    const tell = (message: FromThread): void => this.#port.postMessage(message);
    const counts = new Counts(start);
    const blocks = new Blocks();
    const endings = new Endings({ sockets, options, counts, blocks });
    this.#endings = endings;
    const onHalfClosed = (pair: Pair): void => waits.whileHalfClosed(pair, clock());
    this.#copier = new Copier({ blocks, counts, endings, options, onHalfClosed });
    const watchClient = (pair: Pair): void => this.#dialler.watchClient(pair);
    const onAnswer = (pair: Pair, slot: number | null): void => this.#dialler.dialSlot(pair, slot);
    this.#sticking = new Sticking({ endings, counts, waits, clock, tell, watchClient, onAnswer });
    const endpoints = new Endpoints(start.memory);
    this.#dialler = new Dialler({
      rows: new RowReader(start.memory.rows),
      endpoints,
      counts,
      endings,
      sockets,
      waits,
      clock,
      avoidance: new Avoidance(start.memory.avoided),
      endpointSockets: new EndpointSockets(options, endpoints, start.ports),
      sources: start.keepsClientAddress ? new Sources(this.#lookup) : undefined,
      sticking: this.#sticking,
      onOpen: (pair, mask) => this.#open(pair, mask),
      onNoDescriptors: (pair) => this.#starve(pair),
      onNoRoom: () => this.#acceptor.pause(),
    });
    const onPair = (pair: Pair): void => {
      endings.begin(pair);
      this.#dialler.dial(pair);
    };
    const accepting = { epoll: this.#epoll, calls, options, counts, clock, onPair };
    this.#acceptor = new Acceptor(accepting, start);
    this.#moving = new MovingPairs({ sockets, endings, counts, calls, options });
  }

  /** Returns when the main thread tells it to stop. */
  run(): void {
    this.#epoll.add(this.#start.wakeFd, EPOLLIN, 0);
    this.#acceptor.refresh(this.#clock());
    this.#port.postMessage({ tell: 'ready' } satisfies FromThread);
    const late = {
      dial: (pair: Pair) => this.#dialler.onLate(pair),
      answer: (pair: Pair) => this.#sticking.onLate(pair),
      row: (pair: Pair) => this.#dialler.dial(pair),
      old: (pair: Pair) => this.#probe(pair),
      halfClosed: (pair: Pair) => this.#endUnlessMoving(pair),
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
      sticking: this.#sticking,
      dialler: this.#dialler,
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

  /** One that nobody will end holds its place for ever otherwise. */
  #endUnlessMoving(pair: Pair): void {
    if (pair.byteCount === pair.seenByteCount) this.#endings.reset(pair);
    else this.#waits.whileHalfClosed(pair, this.#clock());
  }

  /** An idle connection outlives its endpoint's machine unless the kernel asks it. */
  #probe(pair: Pair): void {
    setKeepalive(this.#options, pair.endpointFd);
  }
}
