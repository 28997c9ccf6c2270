import { dropKind } from './drop-kinds.ts';
import type {
  DropCause,
  DropCode,
  DropFacts,
  DroppedPacket,
  DroppingRule,
  PacketTuple,
} from './dropped-packet.ts';

const IPV6_SEPARATOR = ':';
const STRICT = 1;

interface Context {
  readonly drop: DroppedPacket;
  readonly rule: DroppingRule | undefined;
  readonly facts: DropFacts;
}

/** Why a packet was dropped; undefined: the drop says nothing of how the connection fares. */
export function dropCause(
  drop: DroppedPacket,
  known: {
    readonly rule?: DroppingRule;
    readonly facts?: DropFacts;
    /** In another network namespace: that of a pod, or of another node of a lab. */
    readonly isElsewhere?: boolean;
  } = {},
): DropCause | undefined {
  const kind = dropKind(drop);
  if (kind === undefined) return undefined;
  const context = { drop, rule: known.rule, facts: known.facts ?? {} };
  const code = refined(kind, context);
  const { sentence, next } = SAID[code](context);
  if (!known.isElsewhere || IN_POD.has(code)) return { code, sentence, next };
  return {
    code,
    sentence: `in another network namespace than this node's ${sentence}`,
    next: next.map((step) => `in that network namespace: ${step}`),
  };
}

/** Their words tell where it is. */
const IN_POD: ReadonlySet<DropCode> = new Set(['ENDPOINT_REFUSES', 'ENDPOINT_OVERLOADED'] as const);

/** A reason may stand for several causes, which only the state of the machine tells apart. */
function refined(kind: DropCode, { rule, facts, drop }: Context): DropCode {
  const isFull = (facts.conntrack?.dropped ?? 0) > 0;
  if (kind === 'DROPPED_BY_RULE' && rule === undefined && isFull) return 'CONNTRACK_FULL';
  if (kind === 'NO_ROUTE' && facts.isForwarding === false && drop.original !== undefined) {
    return 'NOT_FORWARDED';
  }
  // IPv6 has no reason for it, and its function drops for others too.
  if (kind === 'NOT_FORWARDED' && facts.isForwarding === true) return 'DROPPED_BY_KERNEL';
  return kind;
}

interface Said {
  readonly sentence: string;
  readonly next: readonly string[];
}

const SAID: Readonly<Record<DropCode, (context: Context) => Said>> = {
  DROPPED_BY_RULE: ruleText,
  DROPPED_BY_PROGRAM: ({ drop }) => ({
    sentence: `${what(drop)} is dropped by a program or policy${at(drop)}: ${reasonText(drop)}`,
    next: ['list programs with `bpftool net`, policies of IPsec with `ip xfrm policy`'],
  }),
  DROPPED_REVERSE_PATH: reversePathText,
  DROPPED_BY_KERNEL: ({ drop, facts: { linkIsDown } }) => {
    const link = linkIsDown ? ', which is down or has no carrier' : '';
    return {
      sentence: `${what(drop)} is dropped by the kernel${at(drop)}${link}: ${reasonText(drop)}`,
      next: link === '' ? [] : [`ip link show ${drop.device}`],
    };
  },
  NOT_FORWARDED: ({ drop: { packet, ...drop } }) => {
    const name = forwardingSysctl(packet);
    return {
      sentence: `${what({ packet })} is dropped${at(drop)}: this machine does not forward packets (${name} is 0)`,
      next: [`sysctl -w ${name}=1`],
    };
  },
  NO_ROUTE: ({ drop: { packet, ...drop } }) => ({
    sentence: `${what({ packet })} is dropped${at(drop)}: there is no route to ${packet.destination}`,
    next: [`ip route get ${packet.destination}; the network of the pods adds such routes`],
  }),
  NO_NEIGHBOUR: ({ drop: { packet, device, ...drop } }) => ({
    sentence: `${what({ packet })} is dropped: ${by(device)} no machine answers for the next hop to ${packet.destination} (${reasonText({ ...drop })})`,
    next: [
      `ip neigh show${device === '' ? '' : ` dev ${device}`}; check that the pod or node of ${packet.destination} runs and its interface is up`,
    ],
  }),
  CONNTRACK_FULL: ({ drop, facts: { conntrack } }) => ({
    sentence: `${what(drop)} is dropped: conntrack has no room for another connection (${room(conntrack)})`,
    next: ['raise net.netfilter.nf_conntrack_max, or find what opens so many connections'],
  }),
  TOO_BIG: ({ drop }) => ({
    sentence: `${what(drop)} is larger than the MTU of ${drop.device === '' ? 'its way' : drop.device}, and is dropped`,
    next: [
      'lower the MTU of the pods, or let ICMP messages of too large packets pass to the sender',
    ],
  }),
  ENDPOINT_REFUSES: ({ drop }) => ({
    sentence: `nothing listens at ${destinationOf(drop.packet)}: the client is refused`,
    next: [
      "check the port and address that the pod's program listens at, and targetPort of the Service",
    ],
  }),
  ENDPOINT_OVERLOADED: ({ drop }) => ({
    sentence: `${what(drop)} is dropped by the socket there, which has no room: ${reasonText(drop)}`,
    next: [
      'the program at the endpoint accepts or reads too slowly: check its load, and the backlog it listens with (net.core.somaxconn)',
    ],
  }),
};

function ruleText({ drop, rule }: Context): Said {
  if (rule === undefined) {
    return {
      sentence: `${what(drop)} is dropped by a netfilter rule${at(drop)} (${reasonText(drop)})`,
      next: ['list all rules: nft list ruleset; iptables-legacy-save'],
    };
  }
  const { family, table, chain, handle } = rule;
  const name = `${family} ${table} ${chain}`;
  const part = handle === undefined ? `the policy of chain ${name}` : `handle ${handle} of ${name}`;
  return {
    sentence: `${what(drop)} is dropped by ${part}, which another program made`,
    next: [`nft -a list chain ${name}`],
  };
}

function reversePathText({ drop: { packet, device }, facts: { rpFilter } }: Context): Said {
  const value = rpFilter === undefined ? '' : `, rp_filter is ${rpFilter}`;
  const strict = rpFilter === undefined || rpFilter === STRICT;
  return {
    sentence: `${what({ packet })} is dropped by the reverse path filter of ${device}${value}: the way back to ${packet.source} is not ${by(device)}`,
    next: [
      strict
        ? `sysctl -w net.ipv4.conf.${device}.rp_filter=2; or add a route to ${packet.source} ${by(device)}`
        : `add a route to ${packet.source}`,
    ],
  };
}

function room(conntrack: DropFacts['conntrack']): string {
  if (conntrack === undefined) return 'its table is full';
  const { count, max } = conntrack;
  return `${count.toLocaleString('en-US')} of ${max.toLocaleString('en-US')} entries`;
}

function what({ packet }: Pick<DroppedPacket, 'packet'>): string {
  return `the packet from ${packet.source} to ${destinationOf(packet)}`;
}

function destinationOf({ destination, destinationPort }: PacketTuple): string {
  if (destinationPort === 0) return destination;
  const isIpv6 = destination.includes(IPV6_SEPARATOR);
  return isIpv6 ? `[${destination}]:${destinationPort}` : `${destination}:${destinationPort}`;
}

function at({ device }: Pick<DroppedPacket, 'device'>): string {
  return device === '' ? '' : ` at ${device}`;
}

function by(device: string): string {
  return device === '' ? 'there' : `by ${device}`;
}

function reasonText({
  reason,
  function: kernelFunction,
}: Pick<DroppedPacket, 'reason' | 'function'>): string {
  const where = kernelFunction === undefined ? '' : ` in ${kernelFunction}`;
  if (reason !== undefined) return `${reason}${where}`;
  return kernelFunction === undefined
    ? 'this kernel gives no reason'
    : `in ${kernelFunction}; this kernel gives no reason`;
}

function forwardingSysctl({ source }: PacketTuple): string {
  return source.includes(IPV6_SEPARATOR) ? 'net.ipv6.conf.all.forwarding' : 'net.ipv4.ip_forward';
}
