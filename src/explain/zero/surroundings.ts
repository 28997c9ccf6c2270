import type { Family } from '../../forwarding/model.ts';

/**
 * The objects around a Service, with the fields that tell why it has no endpoint. The agent keeps
 * few of them: they are read with the rights of the person who asks.
 */
export interface Surroundings {
  /** Manifests have only what somebody wrote down: no controller makes the rest. */
  readonly from: 'cluster' | 'manifests';
  /** Undefined: it does not exist. */
  readonly service: Known<ServiceThere | undefined>;
  /** Those of the Service and, if there are none, all of its namespace. */
  readonly slices: Known<readonly SliceThere[]>;
  /** Those that the selector matches and, if there are none, some of its namespace. */
  readonly pods: Known<readonly PodThere[]>;
  /** Read only if no pod matches. */
  readonly workloads: Known<readonly WorkloadThere[]>;
  /** Addresses of an Endpoints object of the same name; undefined: there is none. */
  readonly legacyEndpoints: Known<number | undefined>;
}

/** Objects of a kind that are read at most. */
export const MOST_OBJECTS = 250;

/** `unknown`: why it is not known, for people. */
export type Known<T> = { readonly known: T } | { readonly unknown: string };

export type Labels = Readonly<Record<string, string>>;

export interface ServiceThere {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  /** Empty: it has none. */
  readonly selector: Labels;
  readonly ports: readonly WantedPort[];
  /** As in the object, `None` included. */
  readonly clusterIPs: readonly string[];
  readonly externalName: string;
  readonly loadBalancerClass: string;
  readonly ingress: readonly Ingress[];
  /** Label of another proxy; undefined: none. */
  readonly proxyName?: string;
}

export interface WantedPort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** A name, or a number; undefined: the port of the Service itself. */
  readonly targetPort?: string | number;
}

export interface Ingress {
  readonly ip: string;
  readonly hostname: string;
  readonly ipMode: string;
}

export interface SliceThere {
  readonly name: string;
  /** Label `kubernetes.io/service-name`; empty: none. */
  readonly service: string;
  readonly family: Family | 'FQDN';
  readonly ports: readonly PortName[];
  readonly addresses: readonly string[];
}

export interface PortName {
  /** Empty: it has none. */
  readonly name: string;
  readonly protocol: string;
  /** 0: every port. */
  readonly port: number;
}

export interface PodThere {
  readonly name: string;
  readonly labels: Labels;
  readonly addresses: readonly string[];
  /** Empty: not scheduled. */
  readonly nodeName: string;
  readonly isTerminating: boolean;
  /** Empty: it has no status, as in manifests that somebody wrote. */
  readonly phase: string;
  /** Why it failed, such as Evicted. */
  readonly reason: string;
  readonly conditions: readonly Condition[];
  readonly containers: readonly ContainerThere[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface ContainerThere {
  readonly name: string;
  /** The others wait until it has ended; a sidecar is none. */
  readonly isInit: boolean;
  readonly ports: readonly PortName[];
  /** `GET :8080/healthz`; empty: none. */
  readonly readinessProbe: string;
  readonly startupProbe: string;
  readonly isReady: boolean;
  readonly isStarted: boolean;
  /** Undefined: the kubelet has not said. */
  readonly state?: ContainerState;
  /** How it ended before. */
  readonly before?: ContainerState;
}

export interface ContainerState {
  readonly is: 'waiting' | 'running' | 'terminated';
  readonly reason: string;
  readonly message: string;
  readonly exitCode: number;
}

/** What makes pods. */
export interface WorkloadThere {
  readonly kind: string;
  readonly name: string;
  /** Of the pods that it makes. */
  readonly labels: Labels;
  /** Undefined: as many as there are nodes. */
  readonly replicas?: number;
  /** Why it cannot make them; empty: it can. */
  readonly failure: string;
}

export function matches(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** `app=web,tier=front`. */
export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** The value, or undefined where it is not known. */
export function knownOf<T>(read: Known<T>): T | undefined {
  return 'known' in read ? read.known : undefined;
}
