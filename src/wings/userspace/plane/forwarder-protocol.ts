import type {
  EndpointList,
  Family,
  ServicePortKey,
  SourceClass,
} from '../../../forwarding/model.ts';

/**
 * What the agent and the forwarder say to each other: JSON messages with a length before them, on a
 * stream socket. The agent asks and the forwarder answers in order.
 */

/** Raised when a message changes its meaning: a forwarder that speaks another one is replaced. */
export const PROTOCOL_VERSION = 2;

/** Where a connection of one source class goes; null: it is not forwarded. */
export type WireTreatment = { readonly list: EndpointList; readonly masquerade: boolean } | null;

export interface WireFrontend {
  /** Empty for a node port. */
  readonly address: string;
  readonly port: number;
  readonly treatments: Readonly<Record<SourceClass, WireTreatment>>;
}

/** `address port`, with one space. */
export type WireEndpoint = string;

/** A TCP service port as the forwarder needs it. */
export interface WireRow {
  readonly key: ServicePortKey;
  readonly affinitySeconds: number;
  readonly frontends: readonly WireFrontend[];
  readonly cluster: readonly WireEndpoint[];
  readonly local: readonly WireEndpoint[];
}

/** A change of one row. Endpoints are named only where they change, so that its cost is that of the change. */
export type WireChange =
  | { readonly set: WireRow }
  | { readonly delete: ServicePortKey }
  | {
      readonly change: ServicePortKey;
      /** All of them, where one differs. */
      readonly frontends?: readonly WireFrontend[];
      readonly affinitySeconds?: number;
      readonly cluster?: WireListChange;
      readonly local?: WireListChange;
    };

export interface WireListChange {
  readonly added: readonly WireEndpoint[];
  readonly removed: readonly WireEndpoint[];
}

/** `namespace/name:port` of `namespace/name:port/TCP/IPv4`. */
export function serviceOf(key: ServicePortKey): string {
  return key.split('/').slice(0, -2).join('/');
}

/** Whose it is: bounds are shared by namespace. */
export function namespaceOf(key: ServicePortKey): string {
  return key.slice(0, key.indexOf('/'));
}

export function familyOf(key: ServicePortKey): Family {
  return key.endsWith('/IPv6') ? 'IPv6' : 'IPv4';
}

export function keyOf(change: WireChange): ServicePortKey {
  if ('set' in change) return change.set.key;
  return 'delete' in change ? change.delete : change.change;
}

/** The ports of the listeners of one family, by the source class whose connections come in there. */
export type ListenerPorts = Readonly<Record<SourceClass, number>>;

/** What the agent tells a forwarder when it starts it: JSON, the only argument of the program. */
export interface ForwarderArguments {
  readonly runFolder: string;
  /** Told again in `hello`. */
  readonly build: string;
  readonly threadCount: number;
  /** The bit of the packet mark for the return path (return-path.ts). */
  readonly returnMark: number;
  /** Inherited descriptors of sockets that are bound and listen. */
  readonly listeners: readonly HeldListener[];
}

/** A listening socket that this process holds a descriptor of. */
export interface HeldListener {
  readonly fd: number;
  readonly source: SourceClass;
  readonly isIPv6: boolean;
}

export interface Hello {
  readonly version: number;
  /** Of the program: another build is replaced. */
  readonly build: string;
  readonly pid: number;
  readonly threadCount: number;
  readonly ports: { readonly IPv4: ListenerPorts; readonly IPv6: ListenerPorts | null };
}

/** One answer of every thread, or it is not given. */
export interface Pulse {
  readonly openConnections: number;
  /** Connections that it can hold at once: half of its file descriptors. */
  readonly mostConnections: number;
  /** False: it is full or draining; the kernel must translate new connections. */
  readonly accepts: boolean;
  /** It was told to end: an agent that wants one starts another, which takes over. */
  readonly isDraining: boolean;
}

/** Counted since the forwarder started, or since those before it that handed over to it. */
export interface WireEndpointCount {
  readonly row: ServicePortKey;
  readonly endpoint: WireEndpoint;
  /** Connections that an endpoint accepted. */
  readonly connections: number;
  readonly open: number;
  readonly bytesToEndpoint: number;
  readonly bytesToClient: number;
  readonly connectMicroseconds: number;
  /** Attempts that failed; the connection went to another endpoint, or was reset. */
  readonly refused: number;
  readonly timedOut: number;
  /** Milliseconds for which it still gets no connection that another can take; 0: none. */
  readonly avoidedMs: number;
}

/** One open connection with its four addresses, each `address port`. */
export interface WireConnection {
  readonly row: ServicePortKey;
  readonly client: string;
  readonly frontend: string;
  /** The forwarder's own end towards the endpoint. Empty while it is dialling. */
  readonly source: string;
  readonly endpoint: string;
  readonly state: 'dialling' | 'open' | 'client-ended' | 'endpoint-ended';
  readonly ageMs: number;
  readonly bytesToEndpoint: number;
  readonly bytesToClient: number;
}

export type Request =
  | { readonly do: 'hello' }
  /** Resolves when every thread sees all of it. */
  | { readonly do: 'apply'; readonly changes: readonly WireChange[] }
  /** A digest of each row as the forwarder has it (row-digest.ts), or DECLINED. */
  | { readonly do: 'digests' }
  | { readonly do: 'pulse' }
  | { readonly do: 'counts' }
  /** Sums of the counts, for metrics: `counts` has a line for every endpoint. */
  | { readonly do: 'totals' }
  /** The first ones in the order in which they were opened, and how many there are. */
  | { readonly do: 'connections'; readonly most: number }
  /** Resets exactly these connections, by client and frontend. */
  | {
      readonly do: 'end';
      readonly connections: readonly Pick<WireConnection, 'client' | 'frontend'>[];
    }
  /**
   * Accepts what is on its way, for a second, and nothing after that. Ends with its last connection,
   * or when the time is over. `final`: no other forwarder follows, so it deletes its routes.
   */
  | { readonly do: 'drain'; readonly deadlineMs: number; readonly final: boolean }
  /**
   * Takes affinity entries and open connections from the forwarder at this handover socket, then the
   * names of the two sockets in the run folder. The other one drains what could not move, and leaves
   * the routes alone, also if it was draining with `final`. Empty: there is none to take from.
   */
  | { readonly do: 'take-over'; readonly from: string };

export interface Answers {
  readonly hello: Hello;
  /** `declined`: of the rows that were named, those for which there is no room. */
  readonly apply: { readonly declined: readonly ServicePortKey[] };
  readonly digests: readonly (readonly [key: ServicePortKey, digest: string])[];
  readonly pulse: Pulse;
  readonly counts: {
    readonly endpoints: readonly WireEndpointCount[];
    /** Clients with an affinity entry, and how many may have one. */
    readonly affinity: {
      readonly remembered: number;
      readonly room: number;
      readonly full: readonly ServicePortKey[];
    };
    /** Connections that ended because no endpoint accepted, or none was known. */
    readonly failed: number;
    readonly unknownFrontend: number;
  };
  /** They never fall, so counts of endpoints that are gone are kept in the sums. */
  readonly totals: Omit<WireEndpointCount, 'row' | 'endpoint' | 'avoidedMs'> & {
    /** Endpoints that get no connection now which another can take. */
    readonly avoidedEndpoints: number;
    readonly failed: number;
    readonly unknownFrontend: number;
  };
  readonly connections: { readonly first: readonly WireConnection[]; readonly count: number };
  readonly end: { readonly ended: number };
  readonly drain: object;
  readonly 'take-over': { readonly pairs: number; readonly affinities: number };
}
