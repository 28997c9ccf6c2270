import { Backoff, REFLECTOR_BACKOFF } from './backoff.ts';
import type { Clock } from './clock.ts';
import { ClusterError, describeError } from './errors.ts';
import type { Kind } from './kinds.ts';
import { type Getter, listAll } from './list.ts';
import { Mirror } from './mirror.ts';
import type { Interner } from './narrow/interner.ts';
import { HTTP_OK, readRefusal, refusal } from './refusal.ts';
import { type Query, type Resource, urlOf } from './resources.ts';
import type { ProblemListener, SourceEvent, SourceHealth } from './source.ts';
import type { WatchEvent } from './watch-event.ts';

export interface ReflectorTiming {
  /** A watch is asked to last between this and twice this. */
  readonly watchSeconds: number;
  /** So much silence within a list is too much. */
  readonly listSilenceMs: number;
  /** So much silence of a watch is too much; the server sends a bookmark about every minute. */
  readonly watchSilenceMs: number;
}

export const REFLECTOR_TIMING: ReflectorTiming = {
  watchSeconds: 300,
  listSilenceMs: 30_000,
  watchSilenceMs: 180_000,
};

export interface ReflectorOptions<K extends Kind> {
  readonly resource: Resource<K>;
  readonly getter: Getter;
  readonly interner: Interner;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly timing: ReflectorTiming;
  readonly onEvent: (event: SourceEvent) => void;
  readonly onProblem: ProblemListener;
}

/** A watch that lasted so long and then ended did what it should. */
const HEALTHY_MS = 120_000;
const ABSENT_RETRY_MS = 60_000;
const LONGEST_RETRY_AFTER_MS = 300_000;
/** Failures of one kind after which the other way is taken. */
const PATIENCE = 3;

const STREAM_LIST: Query = {
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  resourceVersion: '',
};

/** Lists and watches one kind for as long as it runs, whatever the server does. */
export class Reflector<K extends Kind> {
  readonly #options: ReflectorOptions<K>;
  readonly #mirror: Mirror<K>;
  readonly #backoff: Backoff;
  #streamsLists = true;
  #brokenStreamLists = 0;
  #refusedResumes = 0;
  #hasMissedLine = false;
  #isConnected = false;
  #lastHeardAtMs = 0;
  #lastError: string | undefined;
  /** With what the server answered last, where it has not got an optional kind. */
  #absentStatus: number | undefined;

  constructor(options: ReflectorOptions<K>) {
    const { resource, interner, onEvent, onProblem, random } = options;
    this.#options = options;
    this.#mirror = new Mirror({
      kind: resource.kind,
      interner,
      onEvent,
      onProblem: (problem) => onProblem(problem, resource.kind),
    });
    this.#backoff = new Backoff({ ...REFLECTOR_BACKOFF, random });
  }

  health(): SourceHealth {
    return {
      kind: this.#options.resource.kind,
      connected: this.#isConnected,
      lastHeardAtMs: this.#lastHeardAtMs,
      skippedCount: this.#mirror.skippedCount,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  /** Resolves when the signal aborts; rejects only when whoever is told events throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begunAtMs = this.#options.clock.monotonicMs();
      // The line may have been a change of which nobody will tell again.
      if (this.#hasMissedLine) this.#relist();
      try {
        await this.#follow(signal);
        this.#assertLasted(this.#options.clock.monotonicMs() - begunAtMs);
      } catch (error) {
        if (signal.aborted && (error === signal.reason || error instanceof ClusterError)) return;
        if (!(error instanceof ClusterError)) throw error;
        const waitMs = this.#recover(error);
        if (waitMs > 0) await this.#options.clock.sleep(waitMs, signal);
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
    const { getter, resource, timing } = this.#options;
    const resourceVersion = await listAll({
      getter,
      resource,
      signal,
      silenceMs: timing.listSilenceMs,
      // Any version will do to begin with. Later it must not be older than what was told.
      resourceVersion: this.#mirror.isSynced ? '' : '0',
      onItem: (raw) => this.#mirror.put(raw),
      onRestart: () => this.#mirror.beginList(),
    });
    this.#heard();
    this.#mirror.finishList(resourceVersion);
  }

  async #watch(from: Query, signal: AbortSignal): Promise<void> {
    const { getter, resource, timing, random } = this.#options;
    const timeoutSeconds = String(Math.floor(timing.watchSeconds * (1 + random())));
    const query = { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds, ...from };
    const answer = await getter.get(urlOf(resource, query), signal);
    if (answer.status !== HTTP_OK) throw await readRefusal(answer, `watch ${resource.path}`);
    this.#isConnected = true;
    this.#absentStatus = undefined;
    this.#lastError = undefined;
    const limitSilence = (): void =>
      answer.limitSilence(this.#isListing() ? timing.listSilenceMs : timing.watchSilenceMs);
    limitSilence();
    const events = answer.encoding.events(resource.kind);
    await answer.follow((part) => {
      const wasListing = this.#isListing();
      this.#heard();
      for (const event of events.push(part)) this.#take(event);
      if (wasListing && !this.#isListing()) limitSilence();
      // What was missed comes with a new list, now rather than when the server ends the watch.
      return this.#hasMissedLine && !this.#isListing() ? 'enough' : 'more';
    });
    if (this.#isListing()) throw brokenOff(resource);
  }

  #take(event: WatchEvent | undefined): void {
    const mirror = this.#mirror;
    switch (event?.type) {
      case undefined:
        mirror.skip('a line of the watch is no event');
        this.#hasMissedLine = true;
        return;
      case 'put':
        mirror.put(event.object);
        break;
      case 'delete':
        mirror.delete(event.object);
        break;
      case 'bookmark':
        if (event.endsInitialEvents && this.#isListing()) mirror.finishList(event.resourceVersion);
        else mirror.bookmark(event.resourceVersion);
        break;
      case 'error':
        throw refusal(`watch ${this.#options.resource.path}`, event.status);
    }
    this.#refusedResumes = 0;
  }

  #isListing(): boolean {
    return this.#mirror.resumeAt === '';
  }

  #heard(): void {
    this.#lastHeardAtMs = this.#options.clock.monotonicMs();
  }

  /** A server that ends each watch at once must not be asked again at once. */
  #assertLasted(ms: number): void {
    if (ms >= HEALTHY_MS) return;
    throw new ClusterError(
      'CLUSTER_CONNECTION_LOST',
      `the server ended the watch after ${Math.round(ms)} ms`,
      {
        next: 'nothing: it is tried again; the API server may be restarting',
      },
    );
  }

  /** Decides how to go on after a failure, and how long to wait before. */
  #recover(error: ClusterError): number {
    if (error.code === 'CLUSTER_STALLED' && !this.#isListing()) return 0;
    const { resource, onProblem, clock } = this.#options;
    const isAbsent = this.#isAbsent(error);
    this.#isConnected = isAbsent;
    this.#lastError = isAbsent ? undefined : describeError(error);
    // What a cluster does not have, or does not show us, is no news the second time.
    if (!isAbsent || this.#absentStatus !== error.status) onProblem(error, resource.kind);
    this.#absentStatus = isAbsent ? error.status : undefined;
    if (isAbsent) {
      this.#mirror.tellSynced();
      return ABSENT_RETRY_MS;
    }
    if (this.#changeOfWays(error)) return 0;
    const toldMs = Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
    return toldMs + this.#backoff.afterFailure(clock.monotonicMs());
  }

  /** What not every cluster has does not keep the others waiting. */
  #isAbsent({ status }: ClusterError): boolean {
    const { resource } = this.#options;
    return resource.isOptional === true && (status === 404 || status === 403);
  }

  /** True when another way is open that has nothing to do with the failure. */
  #changeOfWays(error: ClusterError): boolean {
    if (!this.#isListing()) {
      const isRefused = error.code === 'CLUSTER_ANSWER' && !isTransient(error.status);
      if (isRefused) this.#refusedResumes++;
      // For example a version of the future, after the database was restored from a backup.
      if (error.code === 'CLUSTER_GONE' || this.#refusedResumes >= PATIENCE) this.#relist();
      return false;
    }
    if (!this.#streamsLists) return false;
    if (error.status === 400 || error.status === 422) {
      this.#streamsLists = false;
      return true;
    }
    const isBroken = error.code === 'CLUSTER_STALLED' || error.code === 'CLUSTER_MALFORMED';
    if (isBroken && ++this.#brokenStreamLists >= PATIENCE) this.#streamsLists = false;
    return false;
  }

  #relist(): void {
    this.#refusedResumes = 0;
    this.#hasMissedLine = false;
    this.#mirror.expire();
  }
}

/** Says nothing about the version we asked for. */
function isTransient(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 429;
}

function brokenOff(resource: Resource): ClusterError {
  return new ClusterError('CLUSTER_MALFORMED', `watch ${resource.path}: the list breaks off`, {
    next: 'nothing: it is tried again, and after some tries in another way',
  });
}
