import { Backoff } from '../time/backoff.ts';
import type { Clock } from '../time/clock.ts';
import { HTTP_OK, readRejection, rejection } from './api-rejection.ts';
import { ClusterError, describeError } from './cluster-error.ts';
import { type Getter, listAll } from './list.ts';
import { Mirror } from './mirror.ts';
import type { Interner } from './narrow/interner.ts';
import type { Kind, ObjectOfKind } from './object-kinds.ts';
import { REFLECTOR_BACKOFF } from './reflector-backoff.ts';
import { ResourcePaths } from './resource-paths.ts';
import { missingRights, type Query, type Resource, urlOf } from './resources.ts';
import type { GapReason } from './server-report.ts';
import { type JsonGetter, whyForbidden } from './server-version.ts';
import type { ProblemListener, SourceEvent, SourceHealth } from './source.ts';
import type { WatchEvent } from './watch-event.ts';

export interface ReflectorTiming {
  /** timeoutSeconds of a watch is between this and twice this. */
  readonly watchSeconds: number;
  /** Longest pause within a list. */
  readonly listSilenceMs: number;
  /** Longest pause within a watch; the server sends a bookmark about every minute. */
  readonly watchSilenceMs: number;
}

export const REFLECTOR_TIMING: ReflectorTiming = {
  watchSeconds: 300,
  listSilenceMs: 30_000,
  watchSilenceMs: 180_000,
};

export interface ReflectorOptions<K extends Kind> {
  readonly resource: Resource<K>;
  readonly getter: Getter & JsonGetter;
  readonly interner: Interner;
  readonly refine?: (object: ObjectOfKind[K], raw: unknown) => ObjectOfKind[K];
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly timing: ReflectorTiming;
  readonly onEvent: (event: SourceEvent) => void;
  readonly onProblem: ProblemListener;
  /** Failures of optional resources. */
  readonly onMissing?: ProblemListener;
  /** Called when it becomes known, or changes, what the server lacks. */
  readonly onServerKnown?: () => void;
  /** The server keeps rejecting the initial list for lack of rights. */
  readonly onForbidden?: () => void;
  /** The server accepted a watch after it did not, or for the first time. */
  readonly onConnected?: () => void;
}

/** Failures after which a response to another watch is news. */
const NO_RESPONSE: ReadonlySet<string> = new Set(['CLUSTER_UNREACHABLE', 'CLUSTER_TIMEOUT']);
/** A watch that lasted this long ended normally. */
const HEALTHY_MS = 120_000;
/** Delay before a missing resource is requested again; it doubles up to the limit below. */
const ABSENT_RETRY_MS = 10_000;
const LONGEST_ABSENT_RETRY_MS = 60_000;
const LONGEST_RETRY_AFTER_MS = 300_000;
/** Failures after which the alternative is used: a new list, or a paged list. */
const FAILURES_BEFORE_FALLBACK = 3;
/** 403 responses that are retried, because the API server may be starting. */
const FORBIDDEN_WHILE_STARTING = 5;

const STREAM_LIST: Query = {
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  resourceVersion: '',
};

/** Lists and watches one kind until aborted, with retries. */
export class Reflector<K extends Kind> {
  readonly #options: ReflectorOptions<K>;
  readonly #mirror: Mirror<K>;
  readonly #backoff: Backoff;
  readonly #paths: ResourcePaths;
  #streamsLists = true;
  #isStreamRejected = false;
  #brokenStreamLists = 0;
  #rejectedResumes = 0;
  #hasMissedLine = false;
  #isConnected = false;
  #lastHeardAtMs = 0;
  #lastError: string | undefined;
  /** Why an optional kind is not available. */
  #absent: GapReason | undefined;
  #absentWait = new AbortController();
  /** The wait after a failure to connect. */
  #unreachableWait = new AbortController();
  #absentRetryMs = ABSENT_RETRY_MS;
  #forbiddenCount = 0;
  /** 403 responses before the initial list of a kind that is not optional. */
  #forbiddenListCount = 0;
  /** Connected to another server, which has not been asked for the missing kinds yet. */
  #isUnsettled = false;

  constructor(options: ReflectorOptions<K>) {
    const { resource, interner, refine, onEvent, onProblem, random } = options;
    this.#options = options;
    this.#mirror = new Mirror({
      kind: resource.kind,
      interner,
      ...(refine === undefined ? {} : { refine }),
      onEvent,
      onProblem: (problem) => onProblem(problem, resource.kind),
    });
    this.#backoff = new Backoff({ ...REFLECTOR_BACKOFF, random });
    this.#paths = new ResourcePaths(resource);
  }

  /** Whether the server rejected a streaming list. */
  get isStreamRejected(): boolean {
    return this.#isStreamRejected;
  }

  /** Whether it is known what the server lacks. */
  get isSettled(): boolean {
    return !this.#isUnsettled && (this.#mirror.isSynced || this.#lastError !== undefined);
  }

  /** Another server may respond from now on: request the missing kinds again. */
  reconnected({ isOtherVersion }: { isOtherVersion: boolean }): void {
    if (isOtherVersion && this.#isStreamRejected) {
      this.#streamsLists = true;
      this.#isStreamRejected = false;
    }
    this.#forbiddenCount = 0;
    this.#absentRetryMs = ABSENT_RETRY_MS;
    this.#isUnsettled = this.#absent !== undefined;
    this.#absentWait.abort();
  }

  /** The server responds to another watch: do not wait any longer. */
  serverResponds(): void {
    this.#unreachableWait.abort();
  }

  health(): SourceHealth {
    return {
      kind: this.#options.resource.kind,
      connected: this.#isConnected,
      lastHeardAtMs: this.#lastHeardAtMs,
      skippedCount: this.#mirror.skippedCount,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      ...(this.#absent === undefined ? {} : { absent: this.#absent }),
    };
  }

  /** Resolves when the signal aborts; rejects only when a listener throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begunAtMs = this.#options.clock.monotonicMs();
      // The unreadable message may have been a change that is not sent again.
      if (this.#hasMissedLine) this.#relist();
      try {
        await this.#follow(signal);
        this.#paths.prefer();
        this.#assertLasted(this.#options.clock.monotonicMs() - begunAtMs);
      } catch (error) {
        if (signal.aborted && (error === signal.reason || error instanceof ClusterError)) return;
        if (!(error instanceof ClusterError)) throw error;
        await this.#recover(error, signal);
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const mirror = this.#mirror;
    if (mirror.resumeAt === '') {
      mirror.beginList();
      if (this.#streamsLists) return await this.#watch(STREAM_LIST, signal);
      await this.#list(signal);
    }
    await this.#watch({ resourceVersion: mirror.resumeAt }, signal);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { getter, timing } = this.#options;
    const resourceVersion = await listAll({
      getter,
      resource: this.#resource,
      signal,
      silenceMs: timing.listSilenceMs,
      // The first list may have any version. A later one must not be older than what was reported.
      resourceVersion: this.#mirror.isSynced ? '' : '0',
      onItem: (raw) => this.#mirror.put(raw),
      onRestart: () => this.#mirror.beginList(),
    });
    this.#heard();
    this.#finishList(resourceVersion);
  }

  #finishList(resourceVersion: string): void {
    this.#mirror.finishList(resourceVersion);
    this.#options.onServerKnown?.();
  }

  async #watch(from: Query, signal: AbortSignal): Promise<void> {
    const { getter, timing, random } = this.#options;
    const resource = this.#resource;
    const timeoutSeconds = String(Math.floor(timing.watchSeconds * (1 + random())));
    const query = { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds, ...from };
    const answer = await getter.get(urlOf(resource, query), signal);
    if (answer.status !== HTTP_OK) {
      throw await readRejection(answer, `watch ${resource.path}`, missingRights(resource));
    }
    const wasConnected = this.#isConnected;
    this.#isConnected = true;
    this.#lastError = undefined;
    if (!wasConnected) this.#options.onConnected?.();
    this.#paths.answered();
    this.#noLongerAbsent();
    const limitSilence = (): void =>
      answer.limitSilence(this.#isListing() ? timing.listSilenceMs : timing.watchSilenceMs);
    limitSilence();
    const events = answer.encoding.events(resource.kind);
    await answer.follow((part) => {
      const wasListing = this.#isListing();
      this.#heard();
      for (const event of events.push(part)) this.#take(event);
      if (wasListing && !this.#isListing()) limitSilence();
      // List again now, rather than when the server ends the watch.
      return this.#hasMissedLine && !this.#isListing() ? 'enough' : 'more';
    });
    if (this.#isListing()) throw brokenOff(resource);
  }

  #noLongerAbsent(): void {
    this.#forbiddenCount = 0;
    this.#isUnsettled = false;
    if (this.#absent === undefined) return;
    this.#absent = undefined;
    this.#options.onServerKnown?.();
  }

  #take(event: WatchEvent | undefined): void {
    const mirror = this.#mirror;
    switch (event?.type) {
      case undefined:
        mirror.skip('a message of the watch is not a watch event');
        this.#hasMissedLine = true;
        return;
      case 'put':
        mirror.put(event.object);
        break;
      case 'delete':
        mirror.delete(event.object);
        break;
      case 'bookmark':
        if (event.endsInitialEvents && this.#isListing()) this.#finishList(event.resourceVersion);
        else mirror.bookmark(event.resourceVersion);
        break;
      case 'error':
        throw rejection(
          `watch ${this.#paths.current}`,
          event.status,
          missingRights(this.#options.resource),
        );
    }
    this.#rejectedResumes = 0;
  }

  get #resource(): Resource<K> {
    return { ...this.#options.resource, path: this.#paths.current };
  }

  #isListing(): boolean {
    return this.#mirror.resumeAt === '';
  }

  #heard(): void {
    this.#lastHeardAtMs = this.#options.clock.monotonicMs();
  }

  /** Back off from a server that ends each watch immediately. */
  #assertLasted(ms: number): void {
    if (ms >= HEALTHY_MS) return;
    throw new ClusterError(
      'CLUSTER_CONNECTION_LOST',
      `the API server ended the watch after ${Math.round(ms)} ms`,
      {
        next: 'retried automatically; the API server may be restarting',
      },
    );
  }

  /** Chooses the next step after a failure, and backs off. */
  async #recover(error: ClusterError, signal: AbortSignal): Promise<void> {
    if (error.code === 'CLUSTER_STALLED' && !this.#isListing()) return;
    const { resource, onProblem, onMissing } = this.#options;
    if (this.#isAbsent(error)) {
      onMissing?.(error, resource.kind);
      if (error.status === 404 && this.#paths.tryNext()) return;
      if (this.#mayBeStarting(error)) return await this.#backOff(error, signal);
      return await this.#doWithout(error, signal);
    }
    this.#isConnected = false;
    if (this.#isStreamRejection(error)) {
      onMissing?.(error, resource.kind);
      this.#streamsLists = false;
      this.#isStreamRejected = true;
      return;
    }
    this.#lastError = describeError(error);
    onProblem(error, resource.kind);
    this.#countForbidden(error);
    this.#changeOfWays(error);
    await this.#backOff(error, signal);
  }

  async #backOff({ code, retryAfterMs = 0 }: ClusterError, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const toldMs = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
    const waitMs = toldMs + this.#backoff.afterFailure(clock.monotonicMs());
    // A server that responds and then ends the watch must not be asked again because it responds.
    if (!NO_RESPONSE.has(code)) return await clock.sleep(waitMs, signal);
    this.#unreachableWait = new AbortController();
    await clock.sleep(waitMs, AbortSignal.any([signal, this.#unreachableWait.signal]));
  }

  /** An API server that has just started may not have loaded its roles yet. */
  #mayBeStarting({ status }: ClusterError): boolean {
    return (
      status === 403 && this.#mirror.isSynced && ++this.#forbiddenCount < FORBIDDEN_WHILE_STARTING
    );
  }

  #countForbidden({ status }: ClusterError): void {
    if (status !== 403 || this.#mirror.isSynced) return;
    if (++this.#forbiddenListCount === FORBIDDEN_WHILE_STARTING) this.#options.onForbidden?.();
  }

  /** An optional kind must not delay the first sync. */
  #isAbsent({ status }: ClusterError): boolean {
    const { resource } = this.#options;
    return resource.isOptional === true && (status === 404 || status === 403);
  }

  #isStreamRejection({ status }: ClusterError): boolean {
    return this.#isListing() && this.#streamsLists && (status === 400 || status === 422);
  }

  /** Until the server changes, or for a while: permissions can be granted at any time. */
  async #doWithout(error: ClusterError, signal: AbortSignal): Promise<void> {
    const { clock, onServerKnown } = this.#options;
    const absent =
      error.status === 404
        ? 'not served'
        : await whyForbidden(this.#options.getter, this.#paths.all, signal);
    if (signal.aborted) return;
    this.#isConnected = true;
    this.#lastError = undefined;
    this.#absent = absent;
    this.#isUnsettled = false;
    this.#mirror.tellSynced();
    onServerKnown?.();
    this.#absentWait = new AbortController();
    const waitMs = this.#absentRetryMs;
    this.#absentRetryMs = Math.min(2 * waitMs, LONGEST_ABSENT_RETRY_MS);
    await clock.sleep(waitMs, AbortSignal.any([signal, this.#absentWait.signal]));
    this.#paths.prefer();
  }

  /** Switches to the alternative when the failure may come from the current request. */
  #changeOfWays(error: ClusterError): void {
    if (!this.#isListing()) {
      const isRejected = error.code === 'CLUSTER_ANSWER' && !isTransient(error.status);
      if (isRejected) this.#rejectedResumes++;
      // For example a version of the future, after etcd was restored from a backup.
      if (error.code === 'CLUSTER_GONE' || this.#rejectedResumes >= FAILURES_BEFORE_FALLBACK)
        this.#relist();
      return;
    }
    const isBroken = error.code === 'CLUSTER_STALLED' || error.code === 'CLUSTER_MALFORMED';
    if (isBroken && ++this.#brokenStreamLists >= FAILURES_BEFORE_FALLBACK)
      this.#streamsLists = false;
  }

  #relist(): void {
    this.#rejectedResumes = 0;
    this.#hasMissedLine = false;
    this.#mirror.expire();
  }
}

/** The status is unrelated to the requested version. */
function isTransient(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 429;
}

function brokenOff(resource: Resource): ClusterError {
  return new ClusterError(
    'CLUSTER_MALFORMED',
    `watch ${resource.path}: the stream ended before the initial list was complete`,
    {
      next: 'retried automatically, after several failures with a paged list instead',
    },
  );
}
