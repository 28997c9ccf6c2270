import { isDeepStrictEqual } from 'node:util';
import { Backoff } from '../time/backoff.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { type Creation, createObject } from './create.ts';
import { ClusterError } from './errors.ts';
import type { Kind } from './kinds.ts';
import { Interner } from './narrow/interner.ts';
import { REFLECTOR_TIMING, Reflector, type ReflectorTiming } from './reflector.ts';
import { REFLECTOR_BACKOFF } from './reflector-backoff.ts';
import {
  NAMESPACES,
  nodeNamed,
  type Resource,
  SERVICE_CIDRS,
  SERVICES,
  SLICES,
} from './resources.ts';
import { gapOf, type ServerGap, type ServerReport } from './server-report.ts';
import { readServerVersion, type ServerVersion } from './server-version.ts';
import type { ProblemListener, Source, SourceEvent, SourceHealth } from './source.ts';

export interface ApiSourceOptions {
  readonly connection: ConnectionOptions;
  /** The Node object to watch; none for a machine outside the cluster. */
  readonly nodeName?: string;
  /** Whether labels of namespaces matter. */
  readonly watchesNamespaces?: boolean;
  readonly onProblem?: ProblemListener;
  /** Failures of optional resources. */
  readonly onMissing?: ProblemListener;
  /** Called with what the server lacks once all kinds have been requested, and when it changes. */
  readonly onServer?: (report: ServerReport) => void;
  readonly timing?: ReflectorTiming;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** About 25 seconds. */
const VERSION_ATTEMPTS = 5;

/** A source that watches several kinds over one connection to an API server. */
export class ApiSource implements Source {
  readonly #options: ApiSourceOptions;
  #connection: Connection | undefined;
  #reflectors: readonly Reflector<Kind>[] = [];
  #version: ServerVersion | undefined;
  #greeting: AbortController | undefined;
  #told: ServerReport | undefined;

  constructor(options: ApiSourceOptions) {
    this.#options = options;
  }

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    const connection = new Connection({
      ...this.#options.connection,
      onOpened: () => void this.#greet(connection, signal),
    });
    this.#connection = connection;
    const interner = new Interner();
    const reflectors = this.#resources().map((resource) =>
      this.#reflector({ resource, connection, interner, onEvent }),
    );
    this.#reflectors = reflectors;
    // A Node that is not watched must not delay the first sync.
    if (this.#options.nodeName === undefined) onEvent({ kind: 'node', type: 'synced' });
    // A failed reflector ends the others: a partial source would look complete.
    const failed = new AbortController();
    const whileAll = AbortSignal.any([signal, failed.signal]);
    whileAll.addEventListener('abort', () => connection.close(), { once: true });
    const ends = await Promise.allSettled(
      reflectors.map(async (reflector) => {
        try {
          await reflector.run(whileAll);
        } finally {
          failed.abort();
        }
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Creates an object, over the connection of the watches. */
  async create(creation: Creation, signal: AbortSignal): Promise<void> {
    if (this.#connection === undefined) {
      throw new ClusterError('CLUSTER_UNREACHABLE', 'not connected to the API server yet', {
        next: 'retried automatically once the watches are established',
      });
    }
    await createObject(this.#connection, creation, signal);
  }

  health(): readonly SourceHealth[] {
    const heardAtMs = this.#connection?.lastHeardAtMs ?? 0;
    return this.#reflectors.map((reflector) => {
      const health = reflector.health();
      // An idle watch is alive as long as its connection responds.
      const lastHeardAtMs = Math.max(health.lastHeardAtMs, health.connected ? heardAtMs : 0);
      return { ...health, lastHeardAtMs };
    });
  }

  server(): ServerReport {
    return { ...this.#version, gaps: this.#gaps() };
  }

  #gaps(): ServerGap[] {
    const absent = (kind: Kind) =>
      this.#reflectors.map((each) => each.health()).find((each) => each.kind === kind)?.absent;
    const ranges = absent('serviceCidr');
    const namespaces = absent('namespace');
    return [
      ...(ranges === undefined ? [] : [gapOf('ServiceCIDR', ranges)]),
      ...(namespaces === undefined ? [] : [gapOf('namespace labels', namespaces)]),
      ...(this.#reflectors.some(({ isStreamRefused }) => isStreamRefused)
        ? [gapOf('streaming lists', 'not served')]
        : []),
    ];
  }

  /** Reads the version of the server on a new connection, then requests again what was missing. */
  async #greet(connection: Connection, signal: AbortSignal): Promise<void> {
    this.#greeting?.abort();
    const greeting = new AbortController();
    this.#greeting = greeting;
    const before = this.#version;
    const version = await this.#askVersion(connection, AbortSignal.any([signal, greeting.signal]));
    if (signal.aborted || this.#greeting !== greeting) return;
    this.#greeting = undefined;
    this.#version = version ?? before ?? {};
    const isOtherVersion = !isDeepStrictEqual(this.#version, before);
    if (before !== undefined) {
      for (const reflector of this.#reflectors) reflector.reconnected({ isOtherVersion });
    }
    this.#tellServer();
  }

  /** An API server that has just started rejects every request for some seconds. */
  async #askVersion(
    connection: Connection,
    signal: AbortSignal,
  ): Promise<ServerVersion | undefined> {
    const { clock = systemClock, random = Math.random } = this.#options;
    const backoff = new Backoff({ ...REFLECTOR_BACKOFF, random });
    for (let attempt = 0; attempt < VERSION_ATTEMPTS && !signal.aborted; attempt++) {
      try {
        return await readServerVersion(connection, signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof ClusterError)) throw error;
        this.#options.onMissing?.(error);
        await clock.sleep(backoff.afterFailure(clock.monotonicMs()), signal);
      }
    }
    return undefined;
  }

  #tellServer(): void {
    const isAsked = this.#version !== undefined && this.#greeting === undefined;
    const report = this.server();
    if (!isAsked || !this.#reflectors.every(({ isSettled }) => isSettled)) return;
    if (isDeepStrictEqual(report, this.#told)) return;
    this.#told = report;
    this.#options.onServer?.(report);
  }

  #resources(): readonly Resource[] {
    const { nodeName, watchesNamespaces } = this.#options;
    const node = nodeName === undefined ? [] : [nodeNamed(nodeName)];
    const namespaces = watchesNamespaces ? [NAMESPACES] : [];
    return [SERVICES, SLICES, SERVICE_CIDRS, ...node, ...namespaces];
  }

  #reflector(part: {
    resource: Resource;
    connection: Connection;
    interner: Interner;
    onEvent: (event: SourceEvent) => void;
  }): Reflector<Kind> {
    const { clock, random, timing, onProblem, onMissing } = this.#options;
    return new Reflector({
      resource: part.resource,
      getter: part.connection,
      interner: part.interner,
      clock: clock ?? systemClock,
      random: random ?? Math.random,
      timing: timing ?? REFLECTOR_TIMING,
      onEvent: part.onEvent,
      onProblem: onProblem ?? (() => undefined),
      onMissing: onMissing ?? (() => undefined),
      onServerKnown: () => this.#tellServer(),
    });
  }
}
