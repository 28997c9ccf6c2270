import type { IpAddress } from '../../../../addresses/ip.ts';
import type { RouteLookup, RouteNow } from '../../../../linux/route/lookup-now.ts';

const FRESH_MS = 5_000;
const MOST_REMEMBERED = 4_096;
const UNREACHABLE: RouteNow = { linkIndex: 0, isLocal: false };
const LOOPBACK_IPV4 = 127;
const LOOPBACK_IPV6 = `${'\0'.repeat(15)}\x01`;

/**
 * Decides whether a connection to an endpoint can have the client's address. Not where the
 * endpoint would answer the client without this machine: it would reject what it never asked for.
 */
export class Sources {
  readonly #lookup: Pick<RouteLookup, 'lookUp'>;
  readonly #routes = new Map<string, { readonly route: RouteNow; readonly untilMs: number }>();

  constructor(lookup: Pick<RouteLookup, 'lookUp'>) {
    this.#lookup = lookup;
  }

  /** Both as bytes in latin1. */
  canKeep(client: string, endpoint: string, nowMs: number): boolean {
    if (isLoopback(client) || isLinkLocal(client)) return false;
    const to = this.#route(endpoint, nowMs);
    if (to.isLocal) return false;
    const from = this.#route(client, nowMs);
    return from === UNREACHABLE || from.linkIndex !== to.linkIndex;
  }

  #route(address: string, nowMs: number): RouteNow {
    const known = this.#routes.get(address);
    if (known !== undefined && nowMs < known.untilMs) return known.route;
    if (this.#routes.size >= MOST_REMEMBERED) this.#routes.clear();
    const route = this.#lookup.lookUp(addressOf(address)) ?? UNREACHABLE;
    this.#routes.set(address, { route, untilMs: nowMs + FRESH_MS });
    return route;
  }
}

function isLoopback(address: string): boolean {
  return address.length === 4 ? address.charCodeAt(0) === LOOPBACK_IPV4 : address === LOOPBACK_IPV6;
}

/** fe80::/10 means nothing without its link, and is not routed. */
function isLinkLocal(address: string): boolean {
  if (address.length === 4) return false;
  return address.charCodeAt(0) === 0xfe && (address.charCodeAt(1) & 0xc0) === 0x80;
}

function addressOf(bytes: string): IpAddress {
  return { version: bytes.length === 4 ? 4 : 6, bytes: Buffer.from(bytes, 'latin1') };
}
