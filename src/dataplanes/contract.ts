import type { PlaceFacts } from '../forwarding/answer/place.ts';
import type { Forwarding, Protocol, ServicePortId, ServicePortKey } from '../forwarding/model.ts';

/** What a data plane needs to know about the machine besides the rows. */
export interface NodeFacts extends PlaceFacts {
  /** Where the cluster's pods have their addresses, sorted, as far as it is known. */
  readonly podNetworks?: readonly string[];
  /** The one bit of the packet mark that requests masquerading. */
  readonly masqueradeMark: number;
}

/** Everything a node should do. A plane must not keep `rows`: at 50,000 Services it is large. */
export interface Desired {
  readonly facts: NodeFacts;
  readonly rows: readonly Forwarding[];
}

/**
 * What the kernel has of a row. `absent`: nothing. `unknown`: not what was applied last; the plane
 * has noted which kernel objects it found, and without a note there are none.
 */
export type Applied = Forwarding | 'absent' | 'unknown';

/** The change of one row from what the kernel has to what is desired. */
export interface RowChange {
  readonly key: ServicePortKey;
  readonly id: ServicePortId;
  readonly before: Applied;
  /** Undefined: the row is to be removed. */
  readonly after: Forwarding | undefined;
}

/**
 * How much an inspection reads. `reported`: only what `watch` has reported since the last inspection;
 * the rest is assumed to be as in `desired`, so every row of it must have been applied.
 */
export type InspectionDepth = 'everything' | 'reported';

/** A kernel object that differs from the desired state, described for people. */
export interface Difference {
  readonly kind: 'missing' | 'foreign' | 'different';
  /** For example `ip fairlead map services { 10.96.0.10 . tcp . 80 }`. */
  readonly object: string;
  /** `namespace/name:port` of the Service it serves, where it serves one. */
  readonly service?: string;
  /** For `different`: the desired values or rules, one per line. */
  readonly wanted?: readonly string[];
  /** For `different`: the values or rules in the kernel, one per line. */
  readonly found?: readonly string[];
}

export interface Inspection {
  /** Rows that the kernel has completely. All others are `unknown` from now on, and must be applied. */
  readonly right: ReadonlySet<ServicePortKey>;
  /** At most a hundred of them; `differenceCount` counts all. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** Objects written to the kernel by the inspection: fixed parts added, leftovers deleted. */
  readonly writeCount: number;
}

/** A kernel hook by which packets or sockets reach our programs or rules. */
export interface Attachment {
  /** The kind of hook, as the plane names it, for example `cgroup`. */
  readonly place: string;
  /** Which hook of that kind, for example `connect4`. */
  readonly name: string;
  readonly isAttached: boolean;
}

/** A change of our kernel objects by another process, or of something else that must be inspected. */
export interface Drift {
  /** Descriptions of what happened, for people. */
  readonly what: string;
  /** No other process changed anything: something of ours ended or failed. */
  readonly isOwn?: true;
  /** The process, where the kernel names it. */
  readonly by?: { readonly pid: number; readonly program: string };
}

/** New connections to an endpoint, of all frontends of its service port, as the kernel counts them. */
export interface EndpointCount {
  readonly service: ServicePortKey;
  readonly endpoint: string;
  readonly connections: number;
  readonly bytes: number;
}

/** Packets to a service port that its rules stopped, as the kernel counts them. */
export interface RejectedCount {
  readonly service: ServicePortKey;
  /** Packets that were answered with a TCP reset or an ICMP error: one for each connection by a reset. */
  readonly rejected: number;
  /** Packets without an answer: a TCP client repeats its first one. */
  readonly dropped: number;
  /** Those from outside of its source ranges. Absent: it has none, or they are not counted. */
  readonly outsideRanges?: number;
}

/** How many clients have a session affinity entry, and how many can have one. */
export interface AffinityFill {
  readonly remembered: number;
  readonly room: number;
  /** Service ports at their quota, sorted: their new clients get a random endpoint each time. */
  readonly full: readonly ServicePortKey[];
}

/** Of two planes, one behind the other, the front one cannot be used. */
export interface Fallback {
  readonly from: string;
  /** The plane that forwards everything instead. */
  readonly to: string;
  readonly error: unknown;
}

/** An address that the kernel translates; without one, a node port. */
export interface KernelFrontend {
  readonly protocol: Protocol;
  readonly address?: string;
  readonly port: number;
}

/** What is only read of a plane. */
export interface Readings {
  readonly counters: readonly EndpointCount[];
  /** Service ports without an endpoint for some client, those with no packet yet among them. */
  readonly rejected: readonly RejectedCount[];
  /** Reads counters only: its cost is that of the Services with affinity, not of their clients. */
  readonly affinityFill: AffinityFill;
  /** Every hook that must be attached, and whether it is, as the kernel has it now. */
  readonly attachments: readonly Attachment[];
  readonly fallback: Fallback;
  /** Every address that our kernel objects translate, also after a restart; empty after `remove`. */
  readonly frontends: readonly KernelFrontend[];
  /** How many objects `remove` would delete, by kind; empty if there are none. */
  readonly inventory: readonly Holding[];
}

export type ReadingKey = keyof Readings;

/** What a plane has to read, each by the name of its key. */
export type Readers = {
  readonly [K in ReadingKey]?: (rows?: readonly Forwarding[]) => Promise<Readings[K] | undefined>;
};

/**
 * One implementation of forwarding in the kernel. It translates rows and makes no policy decisions.
 * The agent tracks which rows are applied; a plane keeps only what translation needs, and the
 * kernel objects it found of `unknown` rows. `inspect`, `configure`, `apply`, `applyPart` and
 * `remove` never overlap: the caller waits for one to settle before it makes the next call.
 */
export interface DataPlane {
  readonly mode: string;
  /** Rows per transaction at most. For planes where a transaction is expensive and a row is cheap. */
  readonly rowsPerStep?: number;
  /**
   * Maximum of kernel objects per transaction, for planes where the kernel holds memory for each
   * until the commit. A change that may need more goes to `applyPart`. Undefined: no limit.
   */
  readonly objectsPerStep?: number;
  /**
   * Adds or repairs the fixed parts, deletes what belongs to no row, and reports which rows are
   * complete. The first start, the start after a crash, drift and the periodic inspection are all
   * this one call. A change that was being written in parts starts again afterwards, as `unknown`.
   * After a rejection the plane may have noted what it found of rows: `apply` repairs them from that.
   */
  inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection>;
  /** Node addresses, pod detection or service ranges changed; rows stay as they are. */
  configure(facts: NodeFacts): Promise<void>;
  /**
   * One transaction: resolves when the kernel has all of it. Rejects with a `PlaneError`, and then
   * the kernel has none of it, except for the rows in `PlaneError.unknown`.
   */
  apply(changes: readonly RowChange[]): Promise<void>;
  /**
   * Writes the next part of a change that is too large for one transaction. Call it with the same
   * object until it resolves with `finished`; other rows may be applied in between. The old endpoints
   * serve until the new ones do. After a rejection the row is `unknown`.
   */
  applyPart?(change: RowChange): Promise<'unfinished' | 'finished'>;
  /** All differences that `inspect` would find, without a write. */
  diff(desired: Desired): Promise<readonly Difference[]>;
  /** Reports changes of our kernel objects by other processes, until the signal is aborted. */
  watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void>;
  /**
   * Reads one thing and no other. Undefined: the plane has nothing of the kind. `rows`: of these only,
   * where that costs less; then only what differs from row to row is read, and a row that the kernel
   * has otherwise at the moment may be missing.
   */
  read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined>;
  /** Deletes all our kernel objects. */
  remove(): Promise<void>;
  /**
   * For planes whose kernel objects carry established connections: another mode forwards new ones
   * from now on. `draining`: some are left; call it again. `removed`: nothing of ours is left.
   */
  retire?(): Promise<'draining' | 'removed'>;
  /**
   * The agent ends, and no other call follows. For planes that need a running agent, such as one with
   * a process that it watches: from now on new connections must be forwarded by the kernel alone.
   * What the kernel does alone stays. Not called for a plane that was never inspected.
   */
  release?(): Promise<void>;
}

/** How many objects of one kind the kernel holds for us. */
export interface Holding {
  readonly what:
    | 'programs'
    | 'maps'
    | 'tables'
    | 'chains'
    | 'rules'
    | 'sets'
    | 'addresses'
    | 'processes'
    | 'routes'
    | 'routing rules'
    | 'virtual servers';
  readonly count: number;
}

/** Why a call failed. */
export class PlaneError extends Error {
  override readonly name = 'PlaneError';
  readonly code: string;
  /** What a person can do about it. */
  readonly next: string;
  /** The row that the kernel rejected, where it is known which. */
  readonly culprit?: ServicePortKey;
  /** Rows of the rejected call that the kernel may have in part: they are `unknown` from now on. */
  readonly unknown?: ReadonlySet<ServicePortKey>;

  constructor(message: string, about: PlaneErrorAbout) {
    super(message, { cause: about.cause });
    this.code = about.code;
    this.next = about.next;
    if (about.culprit !== undefined) this.culprit = about.culprit;
    if (about.unknown !== undefined) this.unknown = about.unknown;
  }
}

interface PlaneErrorAbout {
  readonly code: string;
  readonly next: string;
  readonly culprit?: ServicePortKey;
  readonly unknown?: ReadonlySet<ServicePortKey>;
  readonly cause?: unknown;
}
