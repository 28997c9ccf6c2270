import { canonicalIp } from '../../src/addresses/ip.ts';
import { enterNamespace } from '../host/namespaces.ts';
import { run } from '../host/run.ts';
import { EXTERNAL_CIDR, FAMILIES, type Family, SERVICE_CIDR } from './plan.ts';

const TABLE = 'lab-capture';
const FAMILY_WORD: Readonly<Record<Family, string>> = { ipv4: 'ip', ipv6: 'ip6' };
const ICMP_WORD: Readonly<Record<Family, string>> = { ipv4: 'icmp', ipv6: 'icmpv6' };
const PROTOCOLS: Readonly<Record<string, Escape['protocol']>> = {
  tcp: 'TCP',
  udp: 'UDP',
  sctp: 'SCTP',
  icmp: 'ICMP',
  'ipv6-icmp': 'ICMP',
};

/**
 * The capture point: the fabric records every packet for a Service's address that a node let out
 * instead of translating, rejecting or dropping it. A set in the kernel sees all packets and
 * needs no process beside it.
 */
export function captureRuleset(): string {
  const family = (name: Family): string => {
    const word = FAMILY_WORD[name];
    return `
    set escaped-${name} {
      type ${name}_addr . inet_proto . inet_service
      flags dynamic
      counter
      size 65535
    }
    chain record-${name} {
      type filter hook prerouting priority raw; policy accept;
      ${word} daddr { ${SERVICE_CIDR[name]}, ${EXTERNAL_CIDR[name]} } meta l4proto { tcp, udp, sctp } add @escaped-${name} { ${word} daddr . meta l4proto . th dport }
      ${word} daddr { ${SERVICE_CIDR[name]}, ${EXTERNAL_CIDR[name]} } ${ICMP_WORD[name]} type echo-request add @escaped-${name} { ${word} daddr . meta l4proto . 0 }
    }`;
  };
  return `table inet ${TABLE} {${FAMILIES.map(family).join('\n')}\n}\n`;
}

/** A destination that packets for a Service's address left for, and how many. */
export interface Escape {
  readonly address: string;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  /** 0 for an echo request. */
  readonly port: number;
  readonly packets: number;
}

/** What has left the nodes untranslated since the lab came up. */
export async function readEscapes(fabricPath: string): Promise<Escape[]> {
  const lists = FAMILIES.map(async (family) => {
    const set = ['set', 'inet', TABLE, `escaped-${family}`];
    const text = await run(enterNamespace(fabricPath, ['nft', '-j', 'list', ...set]));
    return parseEscapes(text);
  });
  return (await Promise.all(lists)).flat();
}

interface ListedElement {
  readonly elem: {
    readonly val: { readonly concat: readonly [string, string, number] };
    readonly counter: { readonly packets: number };
  };
}

export function parseEscapes(json: string): Escape[] {
  const listing = JSON.parse(json) as { nftables: { set?: { elem?: ListedElement[] } }[] };
  const elements = listing.nftables.flatMap((object) => object.set?.elem ?? []);
  return elements.map(({ elem }) => {
    const [address, protocol, port] = elem.val.concat;
    return {
      address: canonicalIp(address) ?? address,
      protocol: protocolNamed(protocol),
      port,
      packets: elem.counter.packets,
    };
  });
}

function protocolNamed(name: string): Escape['protocol'] {
  const known = PROTOCOLS[name];
  if (known === undefined) throw new TypeError(`nft lists the protocol '${name}', never captured`);
  return known;
}
