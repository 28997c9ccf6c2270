import { type Cidr, parseCidr } from '../../../addresses/cidr.ts';
import { formatIp } from '../../../addresses/ip.ts';
import { NetlinkError } from '../../../linux/netlink/netlink-error.ts';
import { deleteRoute, replaceRoute, selectRoutes } from '../../../linux/route/machine-routes.ts';
import {
  addMarkRule,
  countRules,
  deleteMarkRule,
  type MarkRule,
} from '../../../linux/route/mark-rules.ts';
import type { RouteSpec } from '../../../linux/route/route-requests.ts';
import { sleep } from '../../../time/sleep.ts';

const RETRY_MS = 1000;

export interface RouteWriter {
  add(address: string): Promise<void>;
  remove(address: string): Promise<void>;
}

/** Writes routes as addresses come and go, in order, and only what has changed. */
export class RouteKeeper {
  readonly #writer: RouteWriter;
  readonly #onProblem: (error: NetlinkError) => void;
  readonly #wanted = new Map<string, boolean>();
  #wake = Promise.withResolvers<void>();
  #settled = Promise.withResolvers<void>();
  #isWaitedFor = false;

  constructor(writer: RouteWriter, onProblem: (error: NetlinkError) => void) {
    this.#writer = writer;
    this.#onProblem = onProblem;
  }

  change(address: string, isPresent: boolean): void {
    this.#wanted.set(address, isPresent);
    this.#wake.resolve();
  }

  /** Resolves when everything that is known now has been written. */
  async settled(): Promise<void> {
    this.#isWaitedFor = true;
    this.#wake.resolve();
    await this.#settled.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
      await this.#write(signal);
      if (this.#isWaitedFor && this.#wanted.size === 0) this.#settled.resolve();
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    for (const [address, isPresent] of this.#wanted) {
      if (signal.aborted) return;
      this.#wanted.delete(address);
      try {
        await (isPresent ? this.#writer.add(address) : this.#writer.remove(address));
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        if (!this.#wanted.has(address)) this.#wanted.set(address, isPresent);
        this.#onProblem(error);
        await sleep(RETRY_MS, signal);
        this.#wake.resolve();
        return;
      }
    }
  }
}

/**
 * A table of its own, so that addresses of pods do not count as the machine's own:
 *
 *   ip rule    119: from all lookup 120
 *   ip route   local 10.244.1.5 dev lo table 120 src 127.0.0.1
 */
const PROTOCOL = 120;
const TABLE = 120;
const PRIORITY = 119;
const LOOPBACK_INDEX = 1;
const FAMILIES = ['IPv4', 'IPv6'] as const;

export async function addLookup(hasIPv6: boolean): Promise<void> {
  for (const family of hasIPv6 ? FAMILIES : (['IPv4'] as const))
    await addMarkRule(lookupRule(family));
}

/** Puts the machine back as it was, also after a run that could not. */
export async function removeLookupAndRoutes(): Promise<void> {
  for (const family of FAMILIES) await deleteMarkRule(lookupRule(family));
  for (const address of await routedAddresses()) await removePodRoute(address);
}

/** What is in the kernel now, of this process or of one that was killed. */
export async function countLookupAndRoutes(): Promise<{ rules: number; routes: number }> {
  return { rules: await countRules(PROTOCOL), routes: (await routedAddresses()).length };
}

async function routedAddresses(): Promise<readonly string[]> {
  const isOurs = ({ protocol, table }: { protocol: number; table: number }): boolean =>
    protocol === PROTOCOL && table === TABLE;
  const routes = await selectRoutes(FAMILIES, () => isOurs);
  return routes.map(({ to }) => formatIp(to.base));
}

export async function addPodRoute(address: string): Promise<void> {
  const source = address.includes(':') ? '::1' : '127.0.0.1';
  await replaceRoute({ ...routeTo(address), source });
}

export async function removePodRoute(address: string): Promise<void> {
  await deleteRoute(routeTo(address));
}

function lookupRule(family: (typeof FAMILIES)[number]): MarkRule {
  // Every packet has the mark 0 of no bits.
  return { family, mark: 0, priority: PRIORITY, table: TABLE, protocol: PROTOCOL };
}

function routeTo(address: string): RouteSpec {
  return {
    to: parseCidr(`${address}/${address.includes(':') ? 128 : 32}`) as Cidr,
    linkIndex: LOOPBACK_INDEX,
    protocol: PROTOCOL,
    metric: 0,
    type: 'local',
    table: TABLE,
  };
}
