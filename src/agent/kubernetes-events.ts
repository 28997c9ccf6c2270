import type { Clock } from '../time/clock.ts';
import { Wake } from '../time/wake.ts';
import { type EventAbout, eventObject, type Notice } from './event-object.ts';

/** Creates an object in the cluster; rejects when that cannot be done. */
export type EventPost = (path: string, body: object, signal: AbortSignal) => Promise<void>;

export interface EventsOptions {
  readonly about: EventAbout;
  readonly post: EventPost;
  /** An Event was not written, for logs; it has no other effect. */
  readonly onProblem: (error: unknown) => void;
  readonly clock: Clock;
}

const QUEUE_LENGTH = 32;
const POST_DEADLINE_MS = 10_000;
const REPEAT_AFTER_MS = 600_000;
/** Its text changes all the time, so the same Service is named once in an hour for any text. */
const REPEAT_PACED_AFTER_MS = 3_600_000;
const REMEMBERED_COUNT = 256;
const BURST = 10;
const REFILL_EVERY_MS = 5_000;

/**
 * Writes Events to the cluster. Best effort: at most ten at once and one every five seconds, the
 * same one not twice within ten minutes, namespaces in turns, and those beyond the queue are dropped.
 * Nothing waits for it.
 */
export class Events {
  readonly #options: EventsOptions;
  readonly #queue = new EventQueue(QUEUE_LENGTH, ({ words }) => this.#saidAtMs.delete(words));
  /** The time of the last Event, by its words. */
  readonly #saidAtMs = new Map<string, number>();
  readonly #bucket = new TokenBucket({ burst: BURST, refillEveryMs: REFILL_EVERY_MS });
  #sequence = 0;
  readonly #wake = new Wake();

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /** The process begins to work. */
  starting(note: string): void {
    this.#say({ type: 'Normal', reason: 'Starting', action: 'StartKubeProxy', note });
  }

  /** The health port of a Service cannot be opened. */
  serviceHealthFailed(service: { namespace: string; name: string }, note: string): void {
    const reason = 'FailedToStartServiceHealthcheck';
    this.#say({ type: 'Warning', reason, action: 'Listen', note, service });
  }

  /** A Service is too large for one transaction, and is written in parts. */
  servicePaced(service: { namespace: string; name: string }, note: string): void {
    const reason = 'WrittenInParts';
    const repeat = { words: [reason, service], afterMs: REPEAT_PACED_AFTER_MS };
    this.#say({ type: 'Normal', reason, action: 'WriteInParts', note, service }, repeat);
  }

  /**
   * An address that a Service claims is not served. Where every node finds the same, one reports
   * it.
   */
  addressNotServed(
    service: { namespace: string; name: string },
    { note, isOfCluster }: { note: string; isOfCluster: boolean },
  ): void {
    const reason = 'AddressNotServed';
    this.#say({ type: 'Warning', reason, action: 'Program', note, service, isOfCluster });
  }

  /** A process of the node holds the number of a node port. */
  nodePortHeld(service: { namespace: string; name: string }, note: string): void {
    this.#say({ type: 'Warning', reason: 'NodePortHeld', action: 'Program', note, service });
  }

  /** Another process keeps changing what was written to the kernel. */
  changedRepeatedly(note: string): void {
    this.#say({ type: 'Warning', reason: 'RulesChangedRepeatedly', action: 'Repair', note });
  }

  /** The kernel keeps rejecting a row of a Service. */
  notInKernel(service: { namespace: string; name: string }, note: string): void {
    this.#say({ type: 'Warning', reason: 'NotInKernel', action: 'Program', note, service });
  }

  /** Sends queued Events until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const notice = this.#queue.head;
      if (notice === undefined) await this.#wake.wait(signal);
      else if (await this.#admitted(signal)) await this.#send(notice, signal);
    }
  }

  #say(notice: Said, repeat: Repeat = sameWords(notice)): void {
    const { clock } = this.#options;
    const words = JSON.stringify(repeat.words);
    if (this.#wasSaid(words, repeat.afterMs)) return;
    this.#queue.add({ ...notice, words, atMs: clock.wallMs(), sequence: this.#sequence++ });
    this.#wake.call();
  }

  #wasSaid(words: string, afterMs: number): boolean {
    const atMs = this.#options.clock.monotonicMs();
    const beforeMs = this.#saidAtMs.get(words);
    if (beforeMs !== undefined && atMs - beforeMs < afterMs) return true;
    this.#saidAtMs.delete(words);
    this.#saidAtMs.set(words, atMs);
    const [oldest] = this.#saidAtMs.keys();
    if (this.#saidAtMs.size > REMEMBERED_COUNT && oldest !== undefined) {
      this.#saidAtMs.delete(oldest);
    }
    return false;
  }

  /** Waits for the rate limit; false: aborted meanwhile. */
  async #admitted(signal: AbortSignal): Promise<boolean> {
    const waitMs = this.#bucket.take(this.#options.clock.monotonicMs());
    if (waitMs === 0) return true;
    await this.#options.clock.sleep(waitMs, signal);
    return false;
  }

  async #send(notice: Notice, signal: AbortSignal): Promise<void> {
    const { about, post, onProblem } = this.#options;
    const { path, body } = eventObject(notice, about);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(POST_DEADLINE_MS)]);
    const ended = Promise.withResolvers<never>();
    const end = (): void => ended.reject(limit.reason);
    limit.addEventListener('abort', end, { once: true });
    try {
      // Also one that does not listen to its signal must not hold us up.
      await Promise.race([post(path, body, limit), ended.promise]);
    } catch (error) {
      if (!signal.aborted) onProblem(error);
    } finally {
      limit.removeEventListener('abort', end);
    }
    this.#queue.done();
  }
}

type Said = Omit<Notice, 'words' | 'atMs' | 'sequence'>;

/** The identity of an Event, and how long a second one is left out. */
interface Repeat {
  readonly words: readonly unknown[];
  readonly afterMs: number;
}

function sameWords({ reason, note, service }: Said): Repeat {
  return { words: [reason, note, service], afterMs: REPEAT_AFTER_MS };
}

/** Empty: Events on the Node. */
const namespaceOf = ({ service }: Notice): string => service?.namespace ?? '';

/**
 * Events that wait, in turns of their namespaces. When it is full, the namespace with the most loses
 * its newest one: a tenant with a thousand broken Services does not keep out the Event of another.
 */
class EventQueue {
  readonly #most: number;
  readonly #onDropped: (notice: Notice) => void;
  /** In the order of their turns; none is empty. */
  readonly #lanes = new Map<string, Notice[]>();
  #size = 0;

  constructor(most: number, onDropped: (notice: Notice) => void) {
    this.#most = most;
    this.#onDropped = onDropped;
  }

  /** The next one. It stays until `done`. */
  get head(): Notice | undefined {
    const [lane] = this.#lanes.values();
    return lane?.[0];
  }

  add(notice: Notice): void {
    const namespace = namespaceOf(notice);
    const lane = this.#lanes.get(namespace) ?? [];
    if (this.#size >= this.#most && !this.#makeRoomFor(lane)) {
      this.#onDropped(notice);
      return;
    }
    lane.push(notice);
    this.#lanes.set(namespace, lane);
    this.#size++;
  }

  /** The head was handled; the next namespace has its turn. */
  done(): void {
    const [next] = this.#lanes;
    if (next === undefined) return;
    const [namespace, lane] = next;
    lane.shift();
    this.#size--;
    this.#lanes.delete(namespace);
    if (lane.length > 0) this.#lanes.set(namespace, lane);
  }

  /** From a lane with at least two: the head, which may be on its way, is not the newest of it. */
  #makeRoomFor(own: readonly Notice[]): boolean {
    let longest: Notice[] | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.length > (longest?.length ?? own.length + 1)) longest = lane;
    }
    const dropped = longest?.pop();
    if (dropped === undefined) return false;
    this.#size--;
    this.#onDropped(dropped);
    return true;
  }
}

interface TokenBucketOptions {
  readonly burst: number;
  readonly refillEveryMs: number;
}

/** So many at once, and then one in each interval. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #countedAtMs: number | undefined;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
  }

  /**
   * At a time of the monotonic clock. 0: go ahead. Otherwise the time to wait before the next call.
   */
  take(nowMs: number): number {
    const { burst, refillEveryMs } = this.#options;
    this.#countedAtMs ??= nowMs;
    const refillCount = Math.floor((nowMs - this.#countedAtMs) / refillEveryMs);
    this.#tokens = Math.min(burst, this.#tokens + refillCount);
    this.#countedAtMs += refillCount * refillEveryMs;
    if (this.#tokens > 0) {
      this.#tokens--;
      return 0;
    }
    return refillEveryMs - (nowMs - this.#countedAtMs);
  }
}
