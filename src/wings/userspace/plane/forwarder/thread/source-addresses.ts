import type { RouteLookup, RouteNow } from '../../../../../linux/route/lookup-now.ts';
import { ipOfKey } from '../address-key.ts';
import { type AddressKey, IPV6 } from '../row-memory.ts';

const FRESH_MS = 5_000;
const MOST_REMEMBERED = 4_096;
const UNREACHABLE: RouteNow = { linkIndex: 0, isLocal: false };
const LOOPBACK_IPV4 = 127;
/** The first ten bits of fe80::/10. */
const LINK_LOCAL_IPV6 = 0xfe80 >>> 6;

/**
 * Decides whether a connection to an endpoint can have the client's address. Not where the
 * endpoint would answer the client without this machine: it would reject what it never asked for.
 */
export class Sources {
  readonly #lookup: Pick<RouteLookup, 'lookUp'>;
  readonly #routes = new Map<
    number | string,
    { readonly route: RouteNow; readonly untilMs: number }
  >();

  constructor(lookup: Pick<RouteLookup, 'lookUp'>) {
    this.#lookup = lookup;
  }

  canKeep(client: AddressKey, endpoint: AddressKey, nowMs: number): boolean {
    if (isLoopback(client) || isLinkLocal(client)) return false;
    const to = this.#route(endpoint, nowMs);
    if (to.isLocal) return false;
    const from = this.#route(client, nowMs);
    return from === UNREACHABLE || from.linkIndex !== to.linkIndex;
  }

  #route(to: AddressKey, nowMs: number): RouteNow {
    const address = isIPv6(to) ? `${to.a} ${to.b} ${to.c} ${to.d}` : to.a;
    const known = this.#routes.get(address);
    if (known !== undefined && nowMs < known.untilMs) return known.route;
    if (this.#routes.size >= MOST_REMEMBERED) this.#routes.clear();
    const route = this.#lookup.lookUp(ipOfKey(to)) ?? UNREACHABLE;
    this.#routes.set(address, { route, untilMs: nowMs + FRESH_MS });
    return route;
  }
}

function isIPv6({ meta }: AddressKey): boolean {
  return (meta & IPV6) !== 0;
}

function isLoopback(key: AddressKey): boolean {
  const { a, b, c, d } = key;
  return isIPv6(key) ? (a | b | c) === 0 && d === 1 : a >>> 24 === LOOPBACK_IPV4;
}

/** It means nothing without its link, and is not routed. */
function isLinkLocal(key: AddressKey): boolean {
  return isIPv6(key) && key.a >>> 22 === LINK_LOCAL_IPV6;
}
