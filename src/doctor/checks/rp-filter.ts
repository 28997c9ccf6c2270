import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { parseIp } from '../../addresses/ip.ts';
import { isDroppedAtArrival } from '../../linux/route/arrival.ts';
import { isInRange } from '../address-places.ts';
import { check } from '../doctor-check.ts';
import { listedNames, note, orOk, problem } from '../finding.ts';
import type { Subject } from '../subject.ts';
import { sysctlIfThere } from '../sysctl-if-there.ts';

/** A client that is a neighbour of no interface (TEST-NET-3). */
const FAR_CLIENT = '203.0.113.254';
const STRICT = '1';
/**
 * Kinds of links by which clients of outside may come: hardware has none. Not bridges and tunnels,
 * which are for containers and for other nodes.
 */
const OUTER_KINDS: ReadonlySet<string> = new Set(['', 'vlan', 'bond', 'team', 'macvlan', 'veth']);

interface Facts {
  readonly links: readonly {
    readonly name: string;
    readonly sysctl: string;
    /** The client or pod whose packets would be dropped. Undefined: none. */
    readonly dropped?: string;
    /** Whether a route leads from here to other networks, so that their clients may come by it. */
    readonly isUplink: boolean;
  }[];
  /** Packets that were dropped since the network namespace exists. */
  readonly dropCount: number;
  /** Every interface where it may have been: the kernel counts them together. */
  readonly strict: readonly string[];
  /** Whether Services have addresses for clients outside of the cluster. */
  readonly servesOutside: boolean;
}

export const RP_FILTER = check<Facts>({
  name: 'rp-filter',
  read: async (subject) => {
    const { links, endpoints, podLinks, uplinks } = await subject.places();
    const own = ownAddresses(subject);
    const outer = links.filter(
      ({ up, kind, name }) => up && OUTER_KINDS.has(kind) && own.has(name),
    );
    const toAsk = [...new Set([...podLinks, ...uplinks, ...outer])];
    const all = subject.sysctls.read('net/ipv4/conf/all/rp_filter');
    const pathOf = (name: string): string => `net/ipv4/conf/${name}/rp_filter`;
    // The kernel uses the larger one: 2 (loose) wins over 1 (strict).
    const isStrict = (name: string): boolean =>
      String(Math.max(Number(all), Number(sysctlIfThere(subject, pathOf(name)) ?? 0))) === STRICT;
    const outward = links.filter(({ up, loopback, name }) => up && !loopback && isStrict(name));
    const strict = outward.map(({ name }) => name);
    const asked = await Promise.all(
      toAsk.map(async (link) => {
        const isUplink = uplinks.includes(link);
        const sysctl = pathOf(link.name).replaceAll('/', '.');
        const about = { name: link.name, sysctl, isUplink };
        if (!strict.includes(link.name)) return [about];
        const pod = endpoints.find((each) => each.link === link && each.family === 'IPv4');
        const isOuter = outer.includes(link) && !podLinks.includes(link);
        const clients = isOuter ? [pod?.address, FAR_CLIENT] : [pod?.address];
        const to = own.get(link.name) ?? [...own.values()][0];
        const dropped = await firstDropped(clients, { to, linkIndex: link.index });
        return [dropped === undefined ? about : { ...about, dropped }];
      }),
    );
    const facts = asked.flat();
    const counted = { dropCount: dropCount(), strict };
    return { links: facts, ...counted, servesOutside: servesOutside(subject) };
  },
  judge: ({ links, dropCount, strict, servesOutside: isServed }) => {
    const found = links.flatMap(({ name, sysctl, dropped, isUplink }) => {
      if (dropped === undefined) return [];
      // A network of its own, such as for storage, has no clients behind a router.
      if (!isUplink && dropped === FAR_CLIENT) return [];
      const who = dropped === FAR_CLIENT ? 'a client behind a router' : `the pod ${dropped}`;
      const about = {
        what: `${sysctl} is strict, and the route to ${who} is not by ${name}`,
        why: `packets of ${who} that come in by ${name} are dropped before any rule`,
        next: `sysctl -w ${sysctl}=2, or add a route to the clients by ${name}`,
      };
      const breaks = isServed || dropped !== FAR_CLIENT;
      return [breaks ? problem('RP_FILTER_DROPS', about) : note('RP_FILTER_DROPS', about)];
    });
    if (dropCount > 0 && strict.length > 0) {
      found.push(
        note('RP_FILTER_COUNTED', {
          what: `rp_filter has dropped ${dropCount} ${dropCount === 1 ? 'packet' : 'packets'}; it is strict at ${listedNames(strict)}`,
          why: 'the kernel does not count at which interface: packets whose way back leads by another one',
          next: 'sysctl -w net.ipv4.conf.all.log_martians=1: the log of the kernel (dmesg) then names source and interface',
        }),
      );
    }
    return orOk(found, `rp_filter: ${strict.length} interfaces strict, none drops`);
  },
});

/** Addresses of interfaces, without those of pods and those for one host, such as of a gateway of pods. */
function ownAddresses({ node }: Subject): ReadonlyMap<string, string> {
  const detection = node?.facts.podDetection.IPv4;
  const podRange = detection?.by === 'cidr' ? detection.cidr : undefined;
  const found = new Map<string, string>();
  for (const [name, addresses = []] of Object.entries(networkInterfaces())) {
    const address = addresses.find(
      ({ family, internal, netmask }) =>
        family === 'IPv4' && !internal && netmask !== '255.255.255.255',
    )?.address;
    if (address === undefined) continue;
    if (podRange === undefined || !isInRange(podRange, address)) found.set(name, address);
  }
  return found;
}

async function firstDropped(
  clients: readonly (string | undefined)[],
  at: { readonly to: string | undefined; readonly linkIndex: number },
): Promise<string | undefined> {
  const to = at.to === undefined ? undefined : parseIp(at.to);
  if (to === undefined) return undefined;
  for (const client of clients) {
    const from = client === undefined ? undefined : parseIp(client);
    if (from === undefined) continue;
    if (await isDroppedAtArrival({ from, to, linkIndex: at.linkIndex })) return client;
  }
  return undefined;
}

function servesOutside({ node }: Subject): boolean {
  return (node?.rows ?? []).some(({ frontends }) =>
    frontends.some(({ kind }) => kind !== 'cluster-ip'),
  );
}

/** TcpExt IPReversePathFilter: a line of names, then a line of values. */
function dropCount(): number {
  const lines = readFileSync('/proc/self/net/netstat', 'utf8').split('\n');
  const [names = [], values = []] = lines.slice(0, 2).map((line) => line.split(' '));
  return Number(values[names.indexOf('IPReversePathFilter')] ?? 0);
}
