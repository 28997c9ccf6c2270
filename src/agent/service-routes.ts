import { type Cidr, contains, formatCidr, parseCidrs } from '../addresses/cidr.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import type { Logger } from '../log/logger.ts';
import type { AgentObserver } from './observer.ts';

/** A route of the machine, as far as it decides whether a Service range needs one of ours. */
export interface RouteFact {
  readonly to: Cidr;
  /** Every packet of an own socket to its destination finds it, and it leads somewhere. */
  readonly isUsable: boolean;
  /** Made by Fairlead. */
  readonly isOurs: boolean;
  /** As `ip route` prints it. */
  readonly text: string;
}

/** Whether a Service range is reached by a route that Fairlead did not add. */
export interface RangeDecision {
  readonly range: Cidr;
  /** Undefined: no other route leads there, so the range needs one of ours. */
  readonly coveredBy: string | undefined;
}

/** What is true of one Service range in the kernel. */
export interface RangeRoute {
  readonly range: string;
  /** `added`: by Fairlead; `covered`: another route leads there; `failed`: there is none. */
  readonly state: 'added' | 'covered' | 'failed';
  /** The other route. */
  readonly coveredBy?: string;
  /** Why connections to the range fail all the same. */
  readonly problem?: string;
}

/** Reads and writes routes of the machine. */
export interface RouteKeeper {
  /**
   * Asks `decide` with all routes, at the start and after every change of a route that concerns a
   * range, and makes ours equal to the decision; until the signal is aborted. Undefined: not known
   * yet, nothing is changed.
   */
  run(
    hooks: {
      decide(routes: readonly RouteFact[]): readonly RangeDecision[] | undefined;
      onKept(routes: readonly RangeRoute[], changes: RouteChanges): void;
      onFailed(error: Error): void;
    },
    signal: AbortSignal,
  ): Promise<void>;
  /** The decision may have changed. */
  recheck(): void;
}

export interface RouteChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * A route covers a range if it leads somewhere for all of its addresses. A blackhole or unreachable
 * route is none; neither are two that cover one half each, because ours loses against both anyway.
 */
export function decideRoutes(
  ranges: readonly string[],
  routes: readonly RouteFact[],
): RangeDecision[] {
  const others = routes.filter((route) => route.isUsable && !route.isOurs);
  return parseCidrs(ranges).map((range) => {
    const covering = others.filter(({ to }) => covers(to, range));
    // The kernel uses the most specific one.
    const [best] = covering.sort((a, b) => b.to.prefixLength - a.to.prefixLength);
    return { range, coveredBy: best?.text };
  });
}

function covers(outer: Cidr, inner: Cidr): boolean {
  return outer.prefixLength <= inner.prefixLength && contains(outer, inner.base);
}

/**
 * On a machine without a default route, connect() to a ClusterIP fails before a plane sees a packet.
 * Adds a route for each Service range that no other route covers.
 */
export class ServiceRoutes {
  readonly #keeper: RouteKeeper;
  readonly #log: Pick<Logger, 'info' | 'warn'>;
  #ranges: readonly string[] | undefined;
  #report: readonly RangeRoute[] = [];
  #told = '';

  constructor(parts: {
    readonly keeper: RouteKeeper;
    readonly log: Pick<Logger, 'info' | 'warn'>;
  }) {
    this.#keeper = parts.keeper;
    this.#log = parts.log;
  }

  /** Ranges are complete when everything is in the kernel for the first time. */
  observer(facts: () => Pick<NodeFacts, 'serviceRanges'>): AgentObserver {
    return {
      onFirstSync: () => this.#takeRanges(facts().serviceRanges),
      onConfigured: ({ serviceRanges }) => {
        if (this.#ranges !== undefined) this.#takeRanges(serviceRanges);
      },
    };
  }

  report(): readonly RangeRoute[] {
    return this.#report;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#keeper.run(
      {
        decide: (routes) => this.#ranges && decideRoutes(this.#ranges, routes),
        onKept: (routes, changes) => this.#take(routes, changes),
        onFailed: (error) => this.#fail(error),
      },
      signal,
    );
  }

  #takeRanges(ranges: readonly string[]): void {
    if (this.#ranges?.join() === ranges.join()) return;
    this.#ranges = ranges;
    this.#keeper.recheck();
  }

  #take(routes: readonly RangeRoute[], { added, removed }: RouteChanges): void {
    this.#report = routes;
    for (const range of added) {
      this.#log.info({ range }, 'added a route to a Service range, because no other leads there');
    }
    for (const range of removed) {
      this.#log.info({ range }, 'removed the route to a Service range: it is not needed any more');
    }
    const problems = routes.flatMap(({ range, problem }) => (problem ? [{ range, problem }] : []));
    this.#warnOnce(problems.map(({ range, problem }) => `${range}: ${problem}`).join('; '));
  }

  #fail(error: Error): void {
    const ranges = parseCidrs(this.#ranges ?? []).map(formatCidr);
    const problem = `cannot keep the route: ${error.message}`;
    this.#report = ranges.map((range) => ({ range, state: 'failed', problem }));
    this.#warnOnce(`cannot keep routes to the Service ranges: ${error.message}`);
  }

  /** Each text once, until another one or none takes its place. */
  #warnOnce(text: string): void {
    if (text !== '' && text !== this.#told) this.#log.warn(text);
    this.#told = text;
  }
}
