import { constants } from 'node:os';
import { type Cidr, contains, formatCidr } from '../../addresses/cidr.ts';
import type { Clock } from '../../time/clock.ts';
import { type Random, retryDelayMs } from '../../time/retry-delay.ts';
import { sleep } from '../../time/sleep.ts';
import { Wake } from '../../time/wake.ts';
import { NetlinkError, NetlinkRejection } from '../netlink/netlink-error.ts';
import { dump } from '../netlink/netlink-exchange.ts';
import { type NetlinkListener, openNetlink } from '../netlink/netlink-socket.ts';
import type { MachineLink } from './link-codec.ts';
import {
  FAMILIES,
  leadsSomewhere,
  lookUpRoute,
  replaceRoute,
  selectRoutes,
} from './machine-routes.ts';
import {
  isInPlace,
  isOurs,
  isRangeRoute,
  type RouteGround,
  rangeRoute,
  removeRoute,
  routeGround,
} from './our-routes.ts';
import { type MachineRoute, readRouteEvent } from './route-codec.ts';
import {
  NETLINK_ROUTE,
  RTNLGRP_IPV4_IFADDR,
  RTNLGRP_IPV4_ROUTE,
  RTNLGRP_IPV4_RULE,
  RTNLGRP_IPV6_IFADDR,
  RTNLGRP_IPV6_ROUTE,
  RTNLGRP_IPV6_RULE,
  RTNLGRP_LINK,
  rulesQuestion,
} from './route-protocol.ts';
import { routeText } from './route-text.ts';
import { readTableRule, type TableRule } from './rule-codec.ts';
import { listLinks } from './watch-links.ts';

/** The kernel reports no IPv4 route that goes with its link: the link is the event. */
const GROUPS = [
  RTNLGRP_LINK,
  RTNLGRP_IPV4_IFADDR,
  RTNLGRP_IPV4_ROUTE,
  RTNLGRP_IPV4_RULE,
  RTNLGRP_IPV6_IFADDR,
  RTNLGRP_IPV6_ROUTE,
  RTNLGRP_IPV6_RULE,
];
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** A network manager that connects replaces routes several times within this time. */
const SETTLE_MS = 50;
/**
 * Each container that starts or ends changes links. To read the routes of a router takes seconds: the
 * time for that is a tenth at most.
 */
const REST_FACTOR = 9;
const RECHECK_MS = 600_000;
const MOST_RETRY_MS = 60_000;

/** A route as the decision sees it. */
interface RouteFact {
  readonly to: Cidr;
  readonly isUsable: boolean;
  readonly isOurs: boolean;
  readonly text: string;
}

interface RangeDecision {
  readonly range: Cidr;
  readonly coveredBy: string | undefined;
}

/** A range and the route that leads there. */
interface RangeRoute {
  readonly range: string;
  readonly state: 'added' | 'covered';
  readonly coveredBy?: string;
  readonly problem?: string;
}

export interface KeepHooks {
  /** Undefined: not known yet, nothing is changed. */
  decide(routes: readonly RouteFact[]): readonly RangeDecision[] | undefined;
  onKept(routes: readonly RangeRoute[], changes: Changes): void;
  /** Called for each failed attempt; the next one follows after a delay. */
  onFailed(error: NetlinkError): void;
}

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Keeps a route for each range that `decide` finds uncovered; leaves them at the end. */
export class KernelRouteKeeper {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #wake = new Wake();
  /** Undefined: not decided yet. */
  #ranges: readonly Cidr[] | undefined;

  constructor(parts: { readonly clock: Clock; readonly random?: Random }) {
    this.#clock = parts.clock;
    this.#random = parts.random ?? Math.random;
  }

  recheck(): void {
    this.#wake.call();
  }

  async run(hooks: KeepHooks, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const receiveBufferBytes = RECEIVE_BUFFER_BYTES;
    using events = openNetlink({ protocol: NETLINK_ROUTE, groups: GROUPS, receiveBufferBytes });
    const failure = new AbortController();
    const ended = AbortSignal.any([signal, failure.signal]);
    const passOn = (error: unknown): never => {
      failure.abort();
      throw error;
    };
    // Both must have ended before the socket is closed.
    const results = await Promise.allSettled([
      events.listen(this.#listener(), ended).catch(passOn),
      this.#keep(hooks, ended).catch(passOn),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #listener(): NetlinkListener {
    return {
      onMessage: (message) => {
        const event = readRouteEvent(message);
        // Addresses decide about the source of a connection, links and rules about routes.
        if (event === undefined || this.#concerns(event.route)) this.#wake.call();
      },
      onOverrun: () => this.#wake.call(),
    };
  }

  /** A router with a million routes reports changes all the time. */
  #concerns(route: MachineRoute): boolean {
    if (isOurs(route)) return true;
    return this.#ranges?.some((range) => contains(route.to, range.base)) ?? true;
  }

  async #keep(hooks: KeepHooks, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const beganAtMs = this.#clock.monotonicMs();
      try {
        await this.#keepOnce(hooks);
        failures = 0;
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        failures += 1;
        hooks.onFailed(error);
      }
      const tookMs = this.#clock.monotonicMs() - beganAtMs;
      const retry = { mostMs: MOST_RETRY_MS, random: this.#random };
      const ms = failures === 0 ? RECHECK_MS : retryDelayMs(failures, retry);
      await this.#wake.wait(signal, { ms, clock: this.#clock });
      await sleep(Math.max(SETTLE_MS, REST_FACTOR * tookMs), signal);
    }
  }

  async #keepOnce(hooks: KeepHooks): Promise<void> {
    const ranges = hooks.decide([])?.map(({ range }) => range);
    if (ranges === undefined) return;
    const links = await listLinks();
    const routes = await selectRoutes(FAMILIES, () => routeSieve(ranges));
    const rules = await listTableRules();
    const decisions = hooks.decide(routes.map((route) => factOf(route, { links, rules })));
    if (decisions === undefined) return;
    this.#ranges = decisions.map(({ range }) => range);
    const wanted = decisions.filter(({ coveredBy }) => coveredBy === undefined);
    const ground = routeGround(links, routes);
    const changes = await write(routes, { wanted: wanted.map(({ range }) => range), ground });
    const kept: RangeRoute[] = [];
    for (const decision of decisions) kept.push(await reportOf(decision));
    hooks.onKept(kept, changes);
  }
}

/** Nothing is written when ours are as they should be, as after a restart. */
async function write(
  routes: readonly MachineRoute[],
  kept: { readonly wanted: readonly Cidr[]; readonly ground: RouteGround },
): Promise<Changes> {
  const ours = routes.filter(isOurs);
  const texts = new Set(kept.wanted.map(formatCidr));
  const placed = ours.filter((route) => isInPlace(route) && texts.has(formatCidr(route.to)));
  const removed: string[] = [];
  for (const route of ours.filter((each) => !placed.includes(each))) {
    if (await removeRoute(route)) removed.push(formatCidr(route.to));
  }
  const added: string[] = [];
  for (const range of kept.wanted) {
    const text = formatCidr(range);
    const there = placed.filter((route) => formatCidr(route.to) === text);
    if (there.some((route) => isRangeRoute(route, kept.ground))) continue;
    await replaceRoute(rangeRoute(range, kept.ground));
    if (there.length === 0) added.push(text);
  }
  return { added, removed };
}

function factOf(
  route: MachineRoute,
  machine: { readonly links: readonly MachineLink[]; readonly rules: readonly TableRule[] },
): RouteFact {
  return {
    to: route.to,
    isUsable: isLookedUp(route, machine.rules) && leadsSomewhere(route),
    isOurs: isOurs(route),
    text: routeText(route, machine.links),
  };
}

async function reportOf({ range, coveredBy }: RangeDecision): Promise<RangeRoute> {
  const text = formatCidr(range);
  if (coveredBy !== undefined) return { range: text, state: 'covered', coveredBy };
  const problem = problemOf(await lookUpRoute(range.base));
  return { range: text, state: 'added', ...(problem ? { problem } : {}) };
}

/** What a connection to the range meets although there is a route. */
function problemOf(found: Awaited<ReturnType<typeof lookUpRoute>>): string | undefined {
  if (!found.found) return `the kernel has no route to it (${found.code})`;
  if (found.source === undefined || isLoopbackText(found.source)) {
    return 'the machine has no address that pods could answer, only loopback';
  }
  return undefined;
}

function isLoopbackText(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/**
 * Chooses the routes that matter for ranges, so that the others of a router are not kept in memory:
 * ours, those that may cover a range, and one with a gateway for each link.
 */
export function routeSieve(ranges: readonly Cidr[]): (route: MachineRoute) => boolean {
  const uplinks = new Set<number>();
  return (route) => {
    const before = uplinks.size;
    for (const { gateway, linkIndex } of route.hops) if (gateway) uplinks.add(linkIndex);
    if (uplinks.size > before || isOurs(route)) return true;
    return ranges.some(({ base }) => contains(route.to, base));
  };
}

/** Tables that a kernel without policy routing looks up: default, main and local. */
const FIXED_TABLES = [253, 254, 255];
const { EOPNOTSUPP } = constants.errno;

/** The rules that apply to every packet of own sockets, unless marked. */
async function listTableRules(): Promise<readonly TableRule[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const rules: TableRule[] = [];
  let sequence = 0;
  for (const family of ['IPv4', 'IPv6'] as const) {
    try {
      await dump(netlink, rulesQuestion(family, ++sequence), (message) => {
        const rule = readTableRule(message);
        if (rule !== undefined) rules.push(rule);
      });
    } catch (error) {
      if (!(error instanceof NetlinkRejection) || error.errno !== EOPNOTSUPP) throw error;
      const suppressedPrefixLength = undefined;
      rules.push(...FIXED_TABLES.map((table) => ({ family, table, suppressedPrefixLength })));
    }
  }
  return rules;
}

/** Whether packets of own sockets find the route, if no other comes first. */
function isLookedUp(
  { family, table, to, isConditional }: MachineRoute,
  rules: readonly TableRule[],
): boolean {
  if (isConditional) return false;
  return rules.some((rule) => {
    if (rule.family !== family || rule.table !== table) return false;
    return to.prefixLength > (rule.suppressedPrefixLength ?? -1);
  });
}
