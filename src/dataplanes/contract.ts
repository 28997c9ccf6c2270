import type { Family, Forwarding, Protocol, ServicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';

/** How a packet of a pod of this node is told from all others, in one family. */
export type PodDetection =
  | { readonly by: 'cidr'; readonly cidr: string }
  | { readonly by: 'interface'; readonly name: string }
  | { readonly by: 'interface-prefix'; readonly prefix: string };

/** What a data plane must know of the machine beside the rows. */
export interface NodeFacts {
  /** Undefined: pods of this node cannot be told from others in this family. */
  readonly podDetection: Readonly<Record<Family, PodDetection | undefined>>;
  /** Addresses that node ports are served on; `all`: every one of the machine but loopback. */
  readonly nodePortAddresses: Readonly<Record<Family, 'all' | readonly string[]>>;
  /**
   * Addresses of the machine, sorted, where the mode must know them: a Service address that is one of
   * them is left to packets, for a process may serve it on the node. Undefined: it need not.
   */
  readonly ownAddresses?: readonly string[];
  /** IPv4 loopback too; only some modes can. */
  readonly nodePortsOnLocalhost?: boolean;
  /** Families whose TCP node ports on loopback the agent relays itself; no plane does anything. */
  readonly relayedLocalhost?: readonly Family[];
  /**
   * Sorted names, with `*` at the end for anything: only connections that come in by such an
   * interface are translated, and those of the machine's own sockets. Undefined: everybody's.
   */
  readonly clientInterfaces?: readonly string[];
  /** Ranges of the cluster's Service addresses, sorted: an address in one that no Service has is dropped. */
  readonly serviceRanges: readonly string[];
  /** Where the cluster's pods have their addresses, sorted, as far as it is known. */
  readonly podNetworks?: readonly string[];
  /** The one bit of the packet mark that says: masquerade. */
  readonly masqueradeMark: number;
}

/** Everything a node should do. Rows are read once, in order; a plane must not keep the iterable. */
export interface Desired {
  readonly facts: NodeFacts;
  readonly rows: Iterable<Forwarding>;
}

/** One object of the kernel that is not as it should be, in words for people. */
export interface Difference {
  readonly kind: 'missing' | 'foreign' | 'different';
  /** For example `ip fairlead map services { 10.96.0.10 . tcp . 80 }`. */
  readonly object: string;
  /** `namespace/name:port` of the Service it serves, where it serves one. */
  readonly service?: string;
  /** Of what is different: what it should be, a line for each value or rule. */
  readonly wanted?: readonly string[];
  /** The same, as the kernel has it. */
  readonly found?: readonly string[];
}

export interface Inspection {
  /** Rows of which the kernel has everything; all others must be applied. */
  readonly right: ReadonlySet<ServicePortKey>;
  /** What was found amiss, at most a hundred; `differenceCount` says how many there were. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** Objects written to the kernel meanwhile: fixed parts made, leftovers removed. */
  readonly writeCount: number;
}

/** One place of the kernel where packets or sockets come to what is ours. */
export interface Attachment {
  /** `cgroup`: a program at a socket hook. `tc`: a program at an interface. Else: rules. */
  readonly place: 'cgroup' | 'tc' | 'nftables' | 'iptables';
  /** Such as `connect4`, `eth0`, `table ip fairlead` or `IPv4 nat PREROUTING`. */
  readonly name: string;
  readonly isAttached: boolean;
}

/** How many rules a plane has in one table, for metrics. */
export interface RuleCount {
  readonly table: string;
  readonly family: Family;
  readonly total: number;
  /** Of the last transaction. */
  readonly lastWritten: number;
}

/** Somebody else changed what is ours. */
export interface Drift {
  /** What happened, in words for people. */
  readonly what: string;
  /** Who did it, where the kernel says. */
  readonly by?: { readonly pid: number; readonly program: string };
}

/** Where the kernel counts: new connections that an endpoint got, at whichever frontend. */
export interface EndpointCount {
  readonly service: ServicePortKey;
  readonly endpoint: string;
  readonly connections: number;
  readonly bytes: number;
}

/** How many clients the plane remembers for session affinity, of how many it can. */
export interface AffinityFill {
  readonly remembered: number;
  readonly room: number;
  /** Service ports at their quota: their new clients are balanced at random. Sorted. */
  readonly full: readonly ServicePortKey[];
}

/** An address that the kernel translates; without one, a node port. */
export interface KernelFrontend {
  readonly protocol: Protocol;
  readonly address?: string;
  readonly port: number;
}

/**
 * A way to make the kernel forward. It translates rows and decides nothing; it keeps no table of
 * what it has applied beyond what translation needs, the agent does. Calls never overlap: the agent
 * waits for one to settle before it makes the next (`diff`, `watch` and what only reads excepted).
 */
export interface DataPlane {
  readonly mode: string;
  /** How many rows a transaction should have at most, where it costs much and a row little. */
  readonly rowsPerStep?: number;
  /**
   * How many kernel objects one transaction may touch, where the kernel holds memory for each until
   * it commits. A change that may touch more goes to `applyPart`; undefined: there is no limit.
   */
  readonly objectsPerStep?: number;
  /**
   * Makes the fixed parts, removes what belongs to no row, and says which rows are there already.
   * The start after a crash, a touched kernel and a routine look are all this one step.
   * `suspects`: look only at what `watch` has reported since the last inspection, and believe that
   * the kernel has all else of `desired`: so only when every row has been applied as it is there.
   */
  inspect(desired: Desired, depth: 'everything' | 'suspects'): Promise<Inspection>;
  /** Node addresses, pod detection or service ranges changed; rows stay as they are. */
  configure(facts: NodeFacts): Promise<void>;
  /**
   * One transaction: resolves when the kernel has all of it. Rejects with a `PlaneError`, and then
   * the kernel has nothing of it. `before` is what was applied; undefined for a row that an
   * inspection did not find right, of which the plane remembers what is there.
   */
  apply(changes: readonly Change[]): Promise<void>;
  /**
   * Writes the next part of a change that is too large for one transaction. Call it with the same
   * change until it resolves with `finished`; other rows may be written in between. The old endpoints
   * serve until the new ones do. After a rejection the plane remembers what is there of the row, and
   * the next change of it names no `before`, as after an inspection.
   */
  applyPart?(change: Change): Promise<'unfinished' | 'finished'>;
  /** What `inspect` would find, without a write; all of it, however much it is. */
  diff(desired: Desired): Promise<readonly Difference[]>;
  /** Tells every change of ours by somebody else, until the signal is aborted. */
  watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void>;
  counters(): Promise<readonly EndpointCount[]>;
  /** Reads counters only: its cost is that of the Services with affinity, not of their clients. */
  affinityFill?(): Promise<AffinityFill>;
  /** Every place where what is ours must be met, and whether it is, as the kernel has it now. */
  attachments?(): Promise<readonly Attachment[]>;
  /** As far as is known without reading; only of a mode whose costs grow with its rules. */
  ruleCounts?(): readonly RuleCount[];
  /** Every address that the kernel translates for us, whoever wrote it; an empty list after `remove`. */
  frontends(): Promise<readonly KernelFrontend[]>;
  /** What `remove` would take away, counted; empty where nothing of it is there. */
  inventory?(): Promise<readonly Holding[]>;
  /** Leaves nothing behind. */
  remove(): Promise<void>;
}

/** So many objects of one kind that the kernel holds for us. */
export interface Holding {
  readonly what: 'programs' | 'maps' | 'tables' | 'chains' | 'rules' | 'sets' | 'addresses';
  readonly count: number;
}

/** Why a change is not in the kernel. */
export class PlaneError extends Error {
  override readonly name = 'PlaneError';
  readonly code: string;
  /** What a person can do about it. */
  readonly next: string;
  /** The row that the kernel refused, when it said which. */
  readonly culprit?: ServicePortKey;

  constructor(
    message: string,
    about: { code: string; next: string; culprit?: ServicePortKey; cause?: unknown },
  ) {
    super(message, { cause: about.cause });
    this.code = about.code;
    this.next = about.next;
    if (about.culprit !== undefined) this.culprit = about.culprit;
  }
}

/** What rules of the iptables mode count by name; undefined where the kernel has no such counter. */
export interface PacketCounts {
  readonly invalidDropped: number | undefined;
  readonly localhostAccepted: number | undefined;
}
