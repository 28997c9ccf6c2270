import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { RouteLookup } from '../../../../../linux/route/lookup-now.ts';
import { AddressCalls } from '../../../../../linux/sockets/address-calls.ts';
import { setKeepalive } from '../../../../../linux/sockets/keepalive.ts';
import { EPOLLERR, EPOLLHUP, EPOLLIN } from '../../../../../linux/sockets/socket-constants.ts';
import { SocketOptions } from '../../../../../linux/sockets/socket-options.ts';
import { Epoll } from '../../../../../linux/userspace/epoll.ts';
import { EventfdCalls } from '../../../../../linux/userspace/eventfd.ts';
import { RowReader } from '../row-memory.ts';
import { openSharedClock } from '../shared-clock.ts';
import type { FromThread, ThreadStart, ToThread } from '../thread-messages.ts';
import { Acceptor } from './acceptor.ts';
import { Avoidance } from './avoidance.ts';
import { Blocks } from './blocks.ts';
import { findConnections, listConnections } from './connection-list.ts';
import { Copier } from './copier.ts';
import { Dialler } from './dialler.ts';
import { Endings } from './endings.ts';
import { EndpointSockets } from './endpoint-socket.ts';
import { MovingPairs } from './moving-pairs.ts';
import { type Pair, STATE } from './pair.ts';
import { SocketTable } from './socket-table.ts';
import { Sources } from './source-addresses.ts';
import { Counts } from './thread-counts.ts';
import { Waits } from './waits.ts';

const MOST_EVENTS = 512;

/**
 * Copies connections until the main thread tells it to stop. Synchronous: it waits in epoll, and
 * the event loop of its thread never runs.
 */
export function runThread(start: ThreadStart): void {
  using thread = new CopyingThread(start);
  thread.run();
}

/** The parts of a copying thread, put together. */
class CopyingThread implements Disposable {
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
  readonly #acceptor: Acceptor;
  readonly #moving: MovingPairs;
  readonly #port: MessagePort;
  #isStopped = false;

  constructor(start: ThreadStart) {
    this.#start = start;
    this.#port = start.port;
    const clock = this.#clock;
    const [sockets, options, calls] = [this.#sockets, this.#options, this.#calls];
    const waits = new Waits(start.halfClosedMs, {
      dial: (pair) => this.#dialler.onLate(pair),
      answer: (pair) => this.#dialler.onLateAnswer(pair),
      retry: (pair) => this.#dialler.dial(pair),
      // An idle connection outlives its endpoint's machine unless the kernel asks it.
      old: (pair) => setKeepalive(options, pair.endpointFd),
      halfClosed: (pair) => this.#endUnlessMoving(pair),
    });
    this.#waits = waits;
    const counts = new Counts(start);
    const blocks = new Blocks();
    const endings = new Endings({ sockets, options, counts, blocks });
    this.#endings = endings;
    const onHalfClosed = (pair: Pair): void => waits.whileHalfClosed(pair, clock());
    this.#copier = new Copier({ blocks, counts, endings, options, onHalfClosed });
    this.#dialler = new Dialler({
      rows: new RowReader(start.memory.rows),
      counts,
      endings,
      sockets,
      waits,
      clock,
      tell: (message) => this.#tell(message),
      avoidance: new Avoidance(start.memory.avoided),
      endpointSockets: new EndpointSockets(options, start.memory.addresses, start.ports),
      sources: start.keepsClientAddress ? new Sources(this.#lookup) : undefined,
      onOpen: (pair, mask) => this.#open(pair, mask),
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
    while (!this.#isStopped) {
      const askedAtMs = this.#clock();
      const count = this.#epoll.wait(this.#timeoutMs(askedAtMs));
      for (let index = 0; index < count && !this.#isStopped; index++) this.#onEvent(index);
      if (this.#copier.hasDue) this.#copier.pumpDue();
      // Events that did not fit into the batch may be about those that seem late.
      if (count < MOST_EVENTS) this.#waits.handleLate(askedAtMs);
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
      if (fd === this.#start.wakeFd) this.#receive();
      else this.#acceptor.onEvent(fd);
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

  #receive(): void {
    this.#wake.clear(this.#start.wakeFd);
    while (!this.#isStopped) {
      const received = receiveMessageOnPort(this.#port) as { message: ToThread } | undefined;
      if (received === undefined) return;
      this.#handle(received.message);
    }
  }

  #handle(message: ToThread): void {
    const { pairs } = this.#endings;
    switch (message.tell) {
      case 'gone':
        this.#dialler.redialFrom(new Set(message.slots));
        return;
      case 'stick':
        this.#dialler.onAnswer(message.connection, message.slot);
        return;
      case 'pulse': {
        const hasRoom = this.#acceptor.takeHadRoom();
        this.#tell({ tell: 'pulse', id: message.id, open: pairs.size, hasRoom });
        return;
      }
      case 'connections': {
        const first = listConnections(pairs, message.most, this.#calls);
        this.#tell({ tell: 'connections', id: message.id, first, count: pairs.size });
        return;
      }
      case 'end': {
        const found = findConnections(pairs, message.connections);
        for (const pair of found) this.#endings.reset(pair);
        this.#tell({ tell: 'ended', id: message.id, count: found.length });
        return;
      }
      case 'accept':
        this.#acceptor.setWanted(message.isWanted);
        this.#tell({ tell: 'done', id: message.id });
        return;
      case 'give-pairs':
        this.#tell({ tell: 'moved', id: message.id, pairs: this.#moving.give() });
        return;
      case 'given':
        this.#moving.settle(message.taken);
        return;
      case 'take-pairs':
        this.#moving.take(message.pairs);
        return;
      case 'stop':
        for (const pair of pairs) this.#endings.reset(pair);
        this.#isStopped = true;
    }
  }

  #tell(message: FromThread): void {
    this.#port.postMessage(message);
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
}
