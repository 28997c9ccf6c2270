import { FAIRLEAD_PROXIES, type FairleadProxy } from '../lab/proxies/fairlead-modes.ts';
import { UPSTREAM_VARIANTS } from '../lab/proxies/upstream.ts';
import type {
  Answer,
  Asker,
  KnownDifference,
  OnlyFor,
  PodDeclaration,
  Protocol,
  Question,
  SeenSource,
  ServicePortDeclaration,
  Target,
} from './scenario.ts';

/** The vocabulary that scenarios are written in: each word makes plain data. */

export function on(node: number, more: Omit<PodDeclaration, 'node'> = {}): PodDeclaration {
  return { node, ...more };
}

/** A pod that only asks: no Service selects it. */
export function asker(node: number): PodDeclaration {
  return { node, app: 'asker' };
}

export function answeredBy(...pods: string[]): Answer {
  return { answeredBy: pods };
}

/** Answered by all of these and no other, each of which saw the given source address. */
export function answeredSeeing(source: SeenSource, ...pods: string[]): Answer {
  return { answeredBy: pods, source };
}

export function stickyTo(...pods: string[]): Answer {
  return { stickyTo: pods };
}

/** With `apartMs` and `connections`: asked until a second pod has answered, at most that often. */
export function movesAmong(...pods: string[]): Answer {
  return { movesAmong: pods };
}

export function answeredOrSilent(...pods: string[]): Answer {
  return { answeredOrSilent: pods };
}

export function answeredOrRefused(...pods: string[]): Answer {
  return { answeredOrRefused: pods };
}

export const refused: Answer = { refused: true };
const reset: Answer = { reset: true };
export const silent: Answer = { silent: true };
export const unserved: Answer = { unserved: true };
export const echoed: Answer = { echoed: true };

/** Answered by the first `count` of the additional addresses of the pod, evenly. */
export function spreadOver(pod: string, count: number): Answer {
  return { spreadOver: pod, numbers: { from: 1, to: count } };
}

export function clusterIP(service: string, port?: string | number): Target {
  return port === undefined ? { clusterIP: service } : { clusterIP: service, port };
}

export function nodePort(
  service: string,
  node: number | 'localhost' | 'machine',
  port?: string,
): Target {
  return port === undefined ? { nodePort: service, node } : { nodePort: service, node, port };
}

/** An external or load-balancer address, by the name the scenario gave it. */
export function vip(address: string, service: string, port?: string | number): Target {
  return port === undefined ? { address, service } : { address, service, port };
}

export function podIP(pod: string, port = 8080, protocol: Protocol = 'TCP'): Target {
  return { podIP: pod, port, protocol };
}

/** An ICMP echo request instead of a connection. */
export function ping(target: Target): Target {
  return { ping: target };
}

/** The same question from several askers. */
export function fromEach(askers: readonly Asker[], question: Omit<Question, 'from'>): Question[] {
  return askers.map((from) => ({ from, ...question }));
}

/** A UDP port 53 to the pods' port named `udp`. */
export const UDP_PORT: ServicePortDeclaration = {
  name: 'dns',
  port: 53,
  targetPort: 'udp',
  protocol: 'UDP',
};

/** An SCTP port 132 to the pods' port named `sctp`. */
export const SCTP_PORT: ServicePortDeclaration = {
  name: 'signal',
  port: 132,
  targetPort: 'sctp',
  protocol: 'SCTP',
};

/** A pod that serves SCTP alone. */
export function onSctp(
  node: number,
  more: Omit<PodDeclaration, 'node' | 'ports'> = {},
): PodDeclaration {
  return { node, ports: [{ name: 'sctp', port: 8080, protocol: 'SCTP' }], ...more };
}

const names = (proxies: readonly { readonly name: string }[]): readonly string[] =>
  proxies.map(({ name }) => name);
const upstream = (has: (name: string) => boolean): readonly string[] =>
  names(UPSTREAM_VARIANTS).filter(has);
const ours = (has: (proxy: FairleadProxy) => boolean): readonly string[] =>
  names(FAIRLEAD_PROXIES.filter(has));

export const UPSTREAM = names(UPSTREAM_VARIANTS);
export const UPSTREAM_BEFORE_1_37 = names(UPSTREAM_VARIANTS.filter(({ version }) => version));
/** Proxies that share what follows from the layout of the iptables chains. */
export const IPTABLES = [
  ...upstream((name) => name.startsWith('upstream-iptables')),
  ...ours(({ rules }) => rules === 'iptables'),
];
/** Proxies that share what follows from hooks on the sockets of pods, before there is a packet. */
export const POD_SOCKET_HOOKS = ours(({ hooks }) => hooks === 'sockets');
/** The same for hooks on the sockets of the node itself. */
export const NODE_SOCKET_HOOKS = ours(({ hasPrograms }) => hasPrograms);

/** Proxies of Fairlead with virtual servers of IPVS in front of the rules. */
export const OUR_IPVS = ours(({ needsIpvs }) => needsIpvs);

/** A client was quiet for longer than its affinity timeout. */
export function affinityOfIpvs(...pods: string[]): Record<string, KnownDifference> {
  return differently(OUR_IPVS, {
    expect: stickyTo(...pods),
    reason:
      'IPVS keeps the endpoint of a client as long as it knows a connection of it, and knows closed ones for up to two minutes',
  });
}

/** Schedulers by annotation, which kube-proxy has only for all Services at once. */
export const WITH_SCHEDULERS: OnlyFor = {
  proxies: OUR_IPVS,
  reason: 'a Service cannot choose how its connections are distributed',
};

/** A scheduler in the configuration of the proxy. */
export const IPVS: OnlyFor = {
  proxies: ['upstream-ipvs', ...OUR_IPVS],
  reason: 'it has no scheduler',
};

/** Proxies whose kernel translates: an endpoint is chosen once, and nothing is known of it. */
export const KERNEL = [...UPSTREAM, ...ours(({ forwarder }) => forwarder !== 'alive')];
/** Proxies whose forwarder takes TCP connections and makes others to the endpoints. */
const FORWARDER = ours(({ forwarder }) => forwarder === 'alive');

/** Proxies with rules in a table of their own, which cannot accept what another table drops. */
const NFTABLES = ['upstream-nftables', ...ours(({ rules }) => rules === 'nftables')];

/** No endpoint is left that accepts. */
export const RESET_BY_FORWARDER = differently<KnownDifference>(FORWARDER, {
  expect: reset,
  reason:
    'the forwarder accepts a connection before it connects to an endpoint, so when all endpoints refuse, the connection is reset instead of refused',
});

/** An endpoint, or one of them, is on the network of the node that forwards. */
export function fromForwarderOnItsNode(expect: Answer): Record<string, KnownDifference> {
  return differently(FORWARDER, {
    expect,
    reason:
      "the forwarder connects to an endpoint on the network of its own node from the node's address: answers of a local process to the client's address would leave the node",
  });
}

/** The client and one of these endpoints are on one bridge. */
export function fromForwarderToNeighbours(...pods: string[]): Record<string, KnownDifference> {
  return differently(FORWARDER, {
    expect: answeredBy(...pods),
    reason:
      "an endpoint on the bridge of its client sees the node's address: its answers to the client's address would go there by the bridge and miss the forwarder",
  });
}

/** The nftables proxies where Docker drops forwarded packets; iptables rules precede Docker's. */
export function behindDocker<T>(how: T): Record<string, T> {
  return differently(
    NFTABLES.map((proxy) => `${proxy}@docker`),
    how,
  );
}

/** Endpoints on other nodes that are not pods: no rule forwards or accepts their packets. */
export function reachesOnly(...pods: string[]): KnownDifference {
  return {
    expect: answeredOrSilent(...pods),
    reason:
      "what a client outside sends to a node's own address on another node is dropped by Docker's FORWARD policy, which rules of nftables cannot overrule",
  };
}

/** The same known difference for several proxies. */
export function differently<T>(proxies: readonly string[], how: T): Record<string, T> {
  return Object.fromEntries(proxies.map((proxy) => [proxy, how]));
}
