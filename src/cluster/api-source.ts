import { type Clock, systemClock } from './clock.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { type Creation, createObject } from './create.ts';
import { ClusterError } from './errors.ts';
import type { Kind } from './kinds.ts';
import { Interner } from './narrow/interner.ts';
import { REFLECTOR_TIMING, Reflector, type ReflectorTiming } from './reflector.ts';
import {
  NAMESPACES,
  nodeNamed,
  type Resource,
  SERVICE_CIDRS,
  SERVICES,
  SLICES,
} from './resources.ts';
import type { ProblemListener, Source, SourceEvent, SourceHealth } from './source.ts';

export interface ApiSourceOptions {
  readonly connection: ConnectionOptions;
  /** The Node object to watch; none for a machine outside the cluster. */
  readonly nodeName?: string;
  /** Whether labels of namespaces matter. */
  readonly watchesNamespaces?: boolean;
  readonly onProblem?: ProblemListener;
  readonly timing?: ReflectorTiming;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** What the API server tells: several kinds over one connection. */
export class ApiSource implements Source {
  readonly #options: ApiSourceOptions;
  #connection: Connection | undefined;
  #reflectors: readonly Reflector<Kind>[] = [];

  constructor(options: ApiSourceOptions) {
    this.#options = options;
  }

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    const connection = new Connection(this.#options.connection);
    this.#connection = connection;
    const interner = new Interner();
    const reflectors = this.#resources().map((resource) =>
      this.#reflector({ resource, connection, interner, onEvent }),
    );
    this.#reflectors = reflectors;
    // Nobody shall wait for a Node that is not asked for.
    if (this.#options.nodeName === undefined) onEvent({ kind: 'node', type: 'synced' });
    // One that fails takes the others with it: half a source would look like a whole one.
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

  /** Writes an object, over the connection that the watches are on. */
  async create(creation: Creation, signal: AbortSignal): Promise<void> {
    if (this.#connection === undefined) {
      throw new ClusterError('CLUSTER_UNREACHABLE', 'the connection has not been made yet', {
        next: 'nothing: it is made when the watches begin',
      });
    }
    await createObject(this.#connection, creation, signal);
  }

  health(): readonly SourceHealth[] {
    const heardAtMs = this.#connection?.lastHeardAtMs ?? 0;
    return this.#reflectors.map((reflector) => {
      const health = reflector.health();
      // A watch without news is alive as long as its connection answers.
      const lastHeardAtMs = Math.max(health.lastHeardAtMs, health.connected ? heardAtMs : 0);
      return { ...health, lastHeardAtMs };
    });
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
    const { clock, random, timing, onProblem } = this.#options;
    return new Reflector({
      resource: part.resource,
      getter: part.connection,
      interner: part.interner,
      clock: clock ?? systemClock,
      random: random ?? Math.random,
      timing: timing ?? REFLECTOR_TIMING,
      onEvent: part.onEvent,
      onProblem: onProblem ?? (() => undefined),
    });
  }
}
