import type { KernelPart } from '../lab/host/kernel-parts.ts';
import type { PodFault, PodPort } from '../lab/kubelet/pods.ts';
import type { Family } from '../lab/network/plan.ts';
import type { PodNetwork } from '../lab/network/topology.ts';
import type { ApiVersion } from '../lab/parts/api-version.ts';
import type { Allowance, ProxySettings } from '../lab/proxies/contract.ts';

/**
 * A scenario is data: what exists, what happens, and what packets must see. It names no mode of
 * forwarding; where proxies are known to differ, it says how each behaves and why.
 */
export interface Scenario {
  /** `area/behaviour`, unique, in lower case and dashes. */
  readonly name: string;
  /** One sentence a user of Kubernetes would nod at. */
  readonly title: string;
  /** Asked in both families unless said otherwise. */
  readonly families?: readonly Family[];
  /** Scenarios with the same setup share a lab. */
  readonly setup?: Setup;
  readonly pods?: Readonly<Record<string, PodDeclaration>>;
  readonly services?: Readonly<Record<string, ServiceDeclaration>>;
  readonly slices?: Readonly<Record<string, SliceDeclaration>>;
  readonly steps: readonly Step[];
}

export interface Setup {
  readonly podNetwork?: PodNetwork;
  /** The only network that it is asked on; every one when not given. */
  readonly network?: string;
  readonly proxy?: ProxySettings;
  /**
   * Fairlead runs on `machine` without a Node object, and nodes run no proxy. What it says besides is
   * more of the block `fairlead` of its configuration.
   */
  readonly outside?: OutsideSetup;
  /** For faults that a change of another Service would repair or hide: runs alone. */
  readonly alone?: true;
  /** The first version of the API that accepts what it declares; any of the lab's when not given. */
  readonly since?: ApiVersion;
  /** The first kube-proxy that accepts the settings; an earlier one is not asked. */
  readonly proxySince?: ApiVersion;
  /** What the kernel must have beyond what every proxy needs; in one without it, it is not asked. */
  readonly kernel?: readonly KernelPart[];
  /** It is about what only these proxies have; others are not asked. */
  readonly only?: OnlyFor;
}

export interface OnlyFor {
  readonly proxies: readonly string[];
  /** What the others do not have. */
  readonly reason: string;
}

export interface OutsideSetup {
  /** Those of the lab when not given. */
  readonly serviceRanges?: readonly string[];
  /** Interfaces whose clients are served besides the machine's own sockets. */
  readonly clients?: readonly string[];
  readonly zone?: string;
  readonly scope?: {
    readonly namespaces?: readonly string[];
    readonly services?: readonly string[];
  };
}

export interface PodDeclaration {
  readonly node: number;
  /** Value of the label `app`; `web` when not given. */
  readonly app?: string;
  /** TCP 8080 named `tcp` and UDP 8080 named `udp` when not given. */
  readonly ports?: readonly PodPort[];
  readonly ready?: boolean;
  readonly hostNetwork?: boolean;
  /** Not on the network of its node. */
  readonly fault?: PodFault;
  /** MTU of its node's route to it, narrower than every link: senders learn it only by ICMP. */
  readonly pathMtu?: number;
  /** Addresses that it has besides its own, all of which answer. Only where pods are routed. */
  readonly moreAddresses?: number;
  /** `coredns` is the real DNS server of the cluster, on the network of its node. */
  readonly server?: 'coredns';
}

export interface ServiceDeclaration {
  /** Pods with this label `app`; the Service's own name when not given; null: slices by hand. */
  readonly app?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Port 80 TCP to the pods' port named `tcp` when not given. */
  readonly ports?: readonly ServicePortDeclaration[];
  /** Names of addresses to use as external IPs; the same name is the same address. */
  readonly externalIPs?: readonly string[];
  /** Load-balancer addresses, as a cloud would write them into the status. */
  readonly loadBalancer?: readonly LoadBalancerAddress[];
  /** Keep the same cluster IPs over deletion and creation. */
  readonly fixedClusterIPs?: boolean;
  /** Any other field of the Service's spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface LoadBalancerAddress {
  readonly name: string;
  readonly ipMode?: 'VIP' | 'Proxy';
}

export interface ServicePortDeclaration {
  readonly name?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly protocol?: Protocol;
  /** Name of a number to use as NodePort; the same name is the same number. */
  readonly nodePort?: string;
  /** Have the number of that name as `port`, whatever `port` says. */
  readonly numberOf?: string;
}

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** An EndpointSlice written by hand; one is made for each family. */
export interface SliceDeclaration {
  readonly service: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** A port without a number means "all ports" to the API, and nothing to a proxy. */
  readonly ports: readonly { name?: string; port?: number; protocol?: Protocol }[];
  readonly endpoints: readonly SliceEndpoint[];
  /** Written in both families unless said otherwise. */
  readonly families?: readonly Family[];
}

export interface SliceEndpoint {
  /** The pod whose addresses it has. */
  readonly pod: string;
  /** Ready when not given; a condition left out of those given is not written at all. */
  readonly conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  /** Whether the slice names the pod's node; default: true. */
  readonly tellsNode?: boolean;
  /** Instead of its own address: these of its `moreAddresses`, each an endpoint of its own. */
  readonly numbers?: NumberRange;
  readonly zoneHints?: readonly string[];
  readonly nodeHints?: readonly string[];
}

/** Including both. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

export type Step =
  | { readonly ask: readonly Question[] }
  | { readonly change: readonly Change[] }
  | { readonly hold: HeldFlow }
  | {
      readonly held: string;
      readonly expect: Answer;
      readonly otherwise?: Otherwise;
      readonly settles?: Allowance;
    }
  /** Notes which ports of the machine a neighbour finds open, and compares with an earlier note. */
  | { readonly scan: string; readonly sameAs?: string };

export type Change =
  | { readonly setReady: string; readonly ready: boolean }
  | { readonly terminate: string }
  | { readonly removePod: string }
  | { readonly addPod: string; readonly pod: PodDeclaration }
  | { readonly patchService: string; readonly to: ServicePatch }
  | { readonly deleteService: string }
  | { readonly createService: string; readonly service: ServiceDeclaration }
  | { readonly writeSlice: string; readonly slice: SliceDeclaration }
  | { readonly deleteSlice: string }
  /** Labels of the namespace that the scenario lives in. */
  | { readonly labelNamespace: Readonly<Record<string, string | null>> }
  /**
   * A process of the node, known by this name to answers, takes the Service's cluster IPs as NodeLocal
   * DNSCache does: the addresses on the node's loopback, and rules that exempt them from tracking.
   */
  | { readonly startNodeCache: string; readonly node: number; readonly service: string }
  | { readonly stopNodeCache: string }
  /** A server, known by this name to answers, at the address and the ports of these targets. */
  | {
      readonly startServer: string;
      readonly on: 'machine' | 'fabric';
      readonly at: readonly Target[];
    }
  /** Takes the default routes off the machine, until it is ended by this name or the scenario ends. */
  | { readonly dropDefaultRoutes: string }
  | { readonly restoreDefaultRoutes: string }
  /** Of the machine outside, which scenarios share: put back what was there. */
  | { readonly agent: 'start' | 'stop' | 'clean up' }
  /** All taints of the node, by key. Nodes are shared by scenarios: put back what was there. */
  | { readonly taintNode: number; readonly keys: readonly string[] };

export interface ServicePatch {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly ServicePortDeclaration[];
  readonly externalIPs?: readonly string[];
  readonly loadBalancer?: readonly LoadBalancerAddress[];
}

/**
 * Who asks: `pod:NAME`, `pod:NAME#K` (from the K-th of its `moreAddresses`), `nodeN` (the node itself), `client@nodeN` or `machine@nodeN` (from outside,
 * through that node); plain `client` where the destination is a node's own address.
 *
 * Outside of the cluster: `machine`, on which Fairlead runs, or `machine@nodeN` with another source
 * address of it; `container`, behind the machine's bridge; `neighbour`, which routes Services to it.
 */
export type Asker = string;

export interface Question {
  readonly from: Asker;
  readonly to: Target;
  /** How many connections; chosen by the number of pods when not given. */
  readonly connections?: number;
  /** The source port of every connection; any free one when not given. */
  readonly sourcePort?: number;
  /** The same from these too, after the first: their answers count together. */
  readonly alsoFrom?: readonly Asker[];
  /** The same to these too, after the first: their answers count together. */
  readonly alsoTo?: readonly Target[];
  /**
   * Connections one after the other, each when the one before has been answered: `closed` before the
   * next begins, or `open` until the last has been answered.
   */
  readonly inTurn?: 'closed' | 'open';
  /** Notes who answered whom by this name, for `keptAs`. */
  readonly noteAs?: string;
  /** Connections one after the other, with this long a pause before each, instead of at once. */
  readonly apartMs?: number;
  /** A payload of this size is sent on every connection, or as one datagram, and must come back. */
  readonly bytes?: number;
  readonly expect: Answer;
  /** Whether packets for the address may reach the fabric: with `false`, none did. */
  readonly escapes?: boolean;
  readonly otherwise?: Otherwise;
  /**
   * Time that the answer needs by specification after the barrier, whichever proxy is asked. Not
   * given: the first answer counts. Each is listed in docs/conformance.md; a test holds that.
   */
  readonly settles?: Allowance;
}

/**
 * How a proxy is known to behave instead, and why: checked just like the expectation. The key is a
 * proxy, `PROXY@NETWORK`, or `@NETWORK` for what every proxy does there.
 */
export type Otherwise = Readonly<Record<string, KnownDifference>>;

export interface KnownDifference {
  readonly expect: Answer;
  readonly escapes?: boolean;
  readonly reason: string;
}

export interface HeldFlow {
  readonly name: string;
  readonly from: Asker;
  readonly to: Target;
  readonly expect: Answer;
}

export type Target =
  | { readonly clusterIP: string; readonly port?: string | number; readonly protocol?: Protocol }
  | {
      readonly nodePort: string;
      readonly node: number | 'localhost' | 'machine';
      readonly port?: string;
      /** Another address of the node instead of its primary one. */
      readonly at?: 'pod-gateway' | 'second-uplink';
    }
  /** A port number of the scenario, whichever Service has it at the moment. */
  | { readonly nodePortNamed: string; readonly node: number; readonly protocol: Protocol }
  | { readonly address: string; readonly service: string; readonly port?: string | number }
  | { readonly address: string; readonly port: number; readonly protocol: Protocol }
  | { readonly podIP: string; readonly port: number; readonly protocol: Protocol }
  | { readonly unassigned: true; readonly port: number; readonly protocol: Protocol }
  | { readonly healthCheck: string; readonly node: number | 'machine' }
  | { readonly http: string; readonly node: number | 'machine'; readonly port: number }
  /** The name of that Service, asked of the DNS server at that target. */
  | { readonly resolve: Target; readonly name: string }
  /** An ICMP echo request to the address of that target, whatever its port. */
  | { readonly ping: Target };

export type Answer =
  /** Every one of these pods answered, and no other. */
  | { readonly answeredBy: readonly string[]; readonly source?: SeenSource }
  /**
   * Every one of these pods answered and no other did; connections may have met silence. One that
   * was dropped tries again after a second, and may then be led to a pod that answers.
   */
  | { readonly answeredOrSilent: readonly string[] }
  /** Every one of these pods answered, no other did, and at least one connection was refused. */
  | { readonly answeredOrRefused: readonly string[] }
  /** Every one of these pods answered and no other did; one of them as often as `share` says. */
  | { readonly sharedBy: readonly string[]; readonly of: string; readonly share: Share }
  /** These pods answered as often as said, and no other did. */
  | { readonly answeredTimes: Readonly<Record<string, number>> }
  /** These pods answered, no other did, and so often: the counts fit, whichever has which. */
  | { readonly answeredCounts: readonly number[]; readonly by: readonly string[] }
  /** Each source address always met the same one of these pods; together they met all of them. */
  | { readonly stickyBySource: readonly string[] }
  /**
   * Each source address meets whom it met in the note, but for those that met `lost`, all of which
   * meet another now, and at most the part `moved` of the others.
   */
  | { readonly keptAs: string; readonly lost: string; readonly moved: number }
  /** One of these pods answered every time. */
  | { readonly stickyTo: readonly string[]; readonly source?: SeenSource }
  /** Over connections with pauses between them, more than one of these answered, and no other. */
  | { readonly movesAmong: readonly string[] }
  /** All answers come from these of the pod's `moreAddresses`, evenly spread over them. */
  | { readonly spreadOver: string; readonly numbers: NumberRange }
  /** The name has the ClusterIP of that Service, in the family that is asked. */
  | { readonly resolvedTo: string }
  /** Every echo request was replied to. */
  | { readonly echoed: true }
  /** Refused within a second, or the time given. */
  | { readonly refused: true; readonly withinMs?: number; readonly notBeforeMs?: number }
  /** Accepted, and reset before any answer. */
  | { readonly reset: true }
  /** No word for two seconds. */
  | { readonly silent: true }
  /** Anything but an answer of a pod. */
  | { readonly unserved: true }
  | { readonly status: number; readonly localEndpoints?: number };

/** Of all answers. */
export type Share = { readonly atMost: number } | { readonly moreThan: number };

/** The source address the pod saw: the asker's own, or one of the node that translated. */
export type SeenSource = 'own' | 'node';
