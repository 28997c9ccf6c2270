import { isDeepStrictEqual } from 'node:util';
import { Backoff } from '../time/backoff.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { Connection, type ConnectionOptions } from './api-connection.ts';
import { ClusterError } from './cluster-error.ts';
import { type Creation, createObject } from './create.ts';
import { MergedKind, mergedHealth } from './merged-kind.ts';
import { Interner } from './narrow/interner.ts';
import { withPodNames } from './narrow/pod-names.ts';
import type { Kind, ObjectOfKind } from './object-kinds.ts';
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
import { isWithinNamespaces, partsOf, resourceOf, type Scope } from './watch-scope.ts';

export interface ApiSourceOptions {
  readonly connection: ConnectionOptions;
  /** The Node object to watch; none for a machine outside the cluster. */
  readonly nodeName?: string;
  /** The Services to read; undefined: all. */
  readonly scope?: Scope;
  /** Whether labels of namespaces matter. */
  readonly watchesNamespaces?: boolean;
  /** Whether the Service ranges are not known otherwise. Default: true. */
  readonly watchesServiceCidrs?: boolean;
  /** Whether slices keep the names of pods. The connection must accept JSON alone. */
  readonly keepsPodNames?: boolean;
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

interface ReflectorParts {
  readonly resource: Resource;
  readonly connection: Connection;
  readonly interner: Interner;
  readonly onEvent: (event: SourceEvent) => void;
  readonly onForbidden?: () => void;
}

/** About 25 seconds. */
const VERSION_ATTEMPTS = 5;

/** The reflectors of one kind. */
interface WatchedKind {
  readonly kind: Kind;
  readonly reflectors: readonly Reflector<Kind>[];
  /** Undefined: there is one reflector. */
  readonly merged: MergedKind | undefined;
}

/** A source that watches several kinds over one connection to an API server. */
export class ApiSource implements Source {
  readonly #options: ApiSourceOptions;
  #connection: Connection | undefined;
  #kinds: readonly WatchedKind[] = [];
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
    const byKind = Map.groupBy(this.#resources(), ({ kind }) => kind);
    this.#kinds = [...byKind].map(([kind, resources]) =>
      this.#watched(kind, { resources, connection, interner, onEvent }),
    );
    const reflectors = this.#reflectors;
    for (const kind of this.#unwatched()) onEvent({ kind, type: 'synced' });
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
    const healthOf = (reflector: Reflector<Kind>): SourceHealth => {
      const health = reflector.health();
      // An idle watch is alive as long as its connection responds.
      const lastHeardAtMs = Math.max(health.lastHeardAtMs, health.connected ? heardAtMs : 0);
      return { ...health, lastHeardAtMs };
    };
    return this.#kinds.flatMap(({ kind, reflectors, merged }) => {
      const healths = reflectors.map(healthOf);
      return merged === undefined ? healths : [mergedHealth(kind, healths, merged.forbidden)];
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
      ...(this.#reflectors.some(({ isStreamRejected }) => isStreamRejected)
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
    const { nodeName, scope, watchesServiceCidrs = true } = this.#options;
    const served = scope === undefined ? [SERVICES, SLICES] : partsOf(scope).map(resourceOf);
    const ranges = watchesServiceCidrs ? [SERVICE_CIDRS] : [];
    const node = nodeName === undefined ? [] : [nodeNamed(nodeName)];
    return [...served, ...ranges, ...node, ...(this.#readsNamespaces ? [NAMESPACES] : [])];
  }

  get #readsNamespaces(): boolean {
    const { watchesNamespaces = false, scope } = this.#options;
    return watchesNamespaces && (scope === undefined || !isWithinNamespaces(scope));
  }

  /** Kinds that are not watched must not delay the first sync. */
  #unwatched(): readonly Kind[] {
    const { nodeName, watchesNamespaces = false, watchesServiceCidrs = true } = this.#options;
    return [
      ...(nodeName === undefined ? (['node'] as const) : []),
      ...(watchesServiceCidrs ? [] : (['serviceCidr'] as const)),
      ...(watchesNamespaces && !this.#readsNamespaces ? (['namespace'] as const) : []),
    ];
  }

  get #reflectors(): readonly Reflector<Kind>[] {
    return this.#kinds.flatMap(({ reflectors }) => reflectors);
  }

  #watched(
    kind: Kind,
    reflector: Omit<ReflectorParts, 'resource'> & { readonly resources: readonly Resource[] },
  ): WatchedKind {
    const { resources, connection, interner, onEvent } = reflector;
    const shared = { connection, interner };
    if (resources.length === 1) {
      const reflectors = resources.map((resource) =>
        this.#reflector({ ...shared, resource, onEvent }),
      );
      return { kind, reflectors, merged: undefined };
    }
    const parts = resources.map(({ part = kind }) => part);
    const merged = new MergedKind({ kind, parts, onEvent });
    const reflectors = resources.map((resource, part) =>
      this.#reflector({
        ...shared,
        resource,
        onEvent: (event) => merged.take(part, event),
        onForbidden: () => merged.forbid(part),
      }),
    );
    return { kind, reflectors, merged };
  }

  #reflector(part: ReflectorParts): Reflector<Kind> {
    const { clock, random, timing, keepsPodNames, onProblem, onMissing } = this.#options;
    return new Reflector({
      resource: part.resource,
      getter: part.connection,
      interner: part.interner,
      ...(keepsPodNames && part.resource.kind === 'slice' ? { refine: refineSlice } : {}),
      clock: clock ?? systemClock,
      random: random ?? Math.random,
      timing: timing ?? REFLECTOR_TIMING,
      onEvent: part.onEvent,
      onProblem: onProblem ?? (() => undefined),
      onMissing: onMissing ?? (() => undefined),
      onServerKnown: () => this.#tellServer(),
      onConnected: () => {
        for (const other of this.#reflectors) other.serverResponds();
      },
      ...(part.onForbidden === undefined ? {} : { onForbidden: part.onForbidden }),
    });
  }
}

function refineSlice(object: ObjectOfKind[Kind], raw: unknown): ObjectOfKind[Kind] {
  return 'addressType' in object ? withPodNames(object, raw) : object;
}
