/**
 * Everything that `fairlead view` sends to its page. Types only, and no imports: the page is checked
 * with the library of a browser. An optional field is absent where the mode cannot know the figure or
 * has not measured it yet; no figure is estimated. Names and sentences are data of a cluster: never
 * to be written as HTML. Times named `AtMs` are milliseconds since 1970 by the clock of the node,
 * rates are per second.
 *
 * | path | answer |
 * |---|---|
 * | `/data/node` | `NodeAbout` |
 * | `/data/ticks` | server-sent events: `hello` with `Hello`, then `tick` with `ViewTick` every second; `trouble` with `Problem` while the agent does not answer, then `hello` again |
 * | `/data/dots` | `Dots` |
 * | `/data/search?q=TEXT` | `SearchAnswer` |
 * | `/data/service?name=NAMESPACE/NAME` | `ServiceAnswer` |
 * | `/data/changes?before=SEQ&service=NAMESPACE/NAME` | `ChangesAnswer`; both parameters optional |
 * | `/data/path?target=TARGET&from=CLIENT&probe=KIND` | `PathAnswer`; `from` and `probe` optional |
 * | `/data/doctor` | `DoctorAnswer` |
 *
 * Status codes: 400 a parameter is missing or wrong, 401 no token, 403 another Host or a probe that
 * was not allowed, 404 no such path or Service, 405 not GET, 502 the agent does not answer, 503 too
 * many connections or event streams. All of these have a `Problem` as their body.
 */

/** Why a request failed. */
export interface Problem {
  /** For programs. */
  readonly code: string;
  readonly message: string;
  /** What to do; absent: nothing. */
  readonly next?: string;
}

export type SourceClassName = 'pod' | 'host' | 'outside';
export type ProtocolName = 'TCP' | 'UDP' | 'SCTP';
export type FamilyName = 'IPv4' | 'IPv6';

export interface NodeAbout {
  readonly node: string;
  /** Absent: the node has no zone. */
  readonly zone?: string;
  readonly mode: string;
  readonly version: string;
  readonly pid: number;
  readonly startedAtMs: number;
  /** The agent's clock when it answered. */
  readonly atMs: number;
  /** Whether `/data/path` may send packets: `--allow-probes` was given. */
  readonly mayProbe: boolean;
  readonly isReady: boolean;
  /** Everything that `fairlead status` complains of. */
  readonly troubles: readonly Trouble[];
  /** Source classes whose connections conntrack does not see in this mode. */
  readonly unseenSources: readonly SourceClassName[];
}

export interface Trouble {
  readonly what: string;
  readonly next: string;
}

/** The first event of a stream. */
export interface Hello {
  readonly about: NodeAbout;
  /** What the last minutes were, oldest first, one point for each tick, at most 120; empty: nobody watched. */
  readonly past: readonly PastPoint[];
  /** The newest changes, newest first, at most 20. */
  readonly changes: readonly Change[];
}

export interface PastPoint {
  readonly atMs: number;
  readonly newPerSecond?: number;
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
  /** Median time from a change to the kernel, in milliseconds. */
  readonly p50Ms?: number;
}

/** One tick: at most 20,000 bytes of JSON. */
export interface ViewTick {
  /** Counts from 1 in each run of the command. */
  readonly tick: number;
  readonly atMs: number;
  /** Since the tick before. */
  readonly seconds: number;
  readonly totals: TickTotals;
  readonly rows: RowsNow;
  /** Absent: no change since the start of the agent. */
  readonly propagation?: Propagation;
  /** Absent: it cannot be read. */
  readonly conntrack?: ConntrackNow;
  readonly map: TrafficMap;
  readonly dots: DotChanges;
  /** Entries that are new or settled since the tick before, newest first, at most 20. */
  readonly changes: readonly Change[];
  /** Entries that had no room in this tick: `/data/changes` has them. */
  readonly changesLeftOut: number;
  readonly isReady: boolean;
  readonly troubles: readonly Trouble[];
  readonly ages: Ages;
  /** What is missing, in sentences. */
  readonly notes: readonly string[];
}

/** Sums over the service ports that were measured in this tick. */
export interface TickTotals {
  readonly newPerSecond?: number;
  readonly live?: number;
  /** Packets without an endpoint that were answered by a reset or an ICMP error. */
  readonly rejectedPerSecond?: number;
  /** Packets without an endpoint on this node, which got no answer. */
  readonly droppedPerSecond?: number;
  readonly busyPorts: number;
  readonly measuredPorts: number;
  readonly knownPorts: number;
}

/** Rows (service ports) of this node. */
export interface RowsNow {
  readonly desired: number;
  readonly applied: number;
  readonly pending: number;
  /** Rows that the kernel rejected. */
  readonly failing: number;
  readonly services?: number;
  readonly endpoints?: number;
}

/** From our receipt of a change to the acknowledgement of the kernel, over the last thousand. */
export interface Propagation {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface ConntrackNow {
  readonly entries: number;
  readonly max: number;
  /** Since the network namespace exists. Absent: the kernel does not tell. */
  readonly insertFailed?: number;
  readonly earlyDrop?: number;
  readonly dropped?: number;
}

/** Who asks → which Service → where it ends. */
export interface TrafficMap {
  /**
   * New connections by source class, from conntrack events, over all Services. A class is absent
   * where conntrack does not see it, and all are where events are sampled.
   */
  readonly sources: SourceRates;
  /** The ten busiest service ports, the busiest first. */
  readonly services: readonly MapService[];
  /** All other service ports that were measured, as one. */
  readonly others: MapFlow & { readonly ports: number };
  /** Where connections end; `ends` of a flow refer to these by `id`. */
  readonly ends: readonly MapEnd[];
}

export interface SourceRates {
  readonly pod?: number;
  readonly host?: number;
  readonly outside?: number;
  /** Clients whose class their address does not tell. */
  readonly unknown?: number;
}

export interface MapFlow {
  readonly newPerSecond?: number;
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
  readonly live?: number;
  /** Rejected and dropped packets are in none of these: they leave no conntrack entry. */
  readonly from?: SourceRates;
  /** Only known parts; absent: not known. */
  readonly ends?: readonly (readonly [end: string, perSecond: number])[];
}

export interface MapService extends MapFlow {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: ProtocolName;
  readonly family: FamilyName;
  /** Endpoints that were counted. */
  readonly endpoints: number;
}

export interface MapEnd {
  /** `here`, `node:NAME`, `others`, `unplaced`, `rejected`, `dropped`. */
  readonly id: string;
  /**
   * `node`: one of the busiest other nodes. `others`: all other nodes. `unplaced`: endpoints whose
   * slice names no node. The zone of another node is not known to the agent.
   */
  readonly kind: 'here' | 'node' | 'others' | 'unplaced' | 'rejected' | 'dropped';
  /** Of the node. */
  readonly name?: string;
  readonly perSecond?: number;
  /** Endpoints that are counted in it. */
  readonly endpoints?: number;
}

/**
 * `q` quiet, `u` used (has open connections, or had new ones since the page was opened), `b` busy
 * (new connections in this tick), `w` its row waits for the kernel or was rejected by it, `l` dropped:
 * no endpoint on this node and policy Local, `n` rejected: no endpoint at all.
 */
export type DotState = 'q' | 'u' | 'b' | 'w' | 'l' | 'n';

/** Every Service, in the order of the dots' indices: namespaces and their Services, both sorted. */
export interface Dots {
  /** Rises when a Service is added or removed: indices of another version mean other Services. */
  readonly version: number;
  readonly count: number;
  readonly namespaces: readonly DotNamespace[];
}

export interface DotNamespace {
  readonly name: string;
  readonly services: readonly string[];
  /** One `DotState` for each Service. */
  readonly states: string;
}

export interface DotChanges {
  /** Another one than that of `Dots`: fetch them again. Absent: they are not known yet. */
  readonly version?: number;
  /** At most 400; what has no room comes with the next tick. */
  readonly changed: readonly (readonly [index: number, state: DotState])[];
}

/** How old figures are, in seconds. Absent: never read. */
export interface Ages {
  readonly counters?: number;
  /** The time that rates are taken over. */
  readonly countersOver?: number;
  readonly live?: number;
  readonly refused?: number;
  readonly status?: number;
  /** Shares are taken over so many seconds. */
  readonly sharesOver: number;
  readonly events: 'complete' | 'sampled' | 'none';
}

export interface SearchAnswer {
  readonly query: string;
  /** The best first, at most 50. */
  readonly found: readonly FoundService[];
  /** How many more there are. */
  readonly more: number;
}

export interface FoundService {
  /** `namespace/name`. */
  readonly service: string;
  readonly index: number;
  readonly state: DotState;
  /** What the query was found in, where it is not the name: an address or a node port. */
  readonly by?: string;
}

export interface ServiceAnswer {
  /** `namespace/name`. */
  readonly service: string;
  readonly ports: readonly ServicePortAnswer[];
  /** Its newest changes and those of the whole node, newest first, at most 50. */
  readonly changes: readonly Change[];
}

export interface ServicePortAnswer {
  /** `namespace/name:port`. */
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly family: FamilyName;
  readonly affinitySeconds: number;
  readonly frontends: readonly FrontendAnswer[];
  readonly kernel?: KernelState;
  readonly newPerSecond?: number;
  readonly live?: number;
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
  /** At most 300: those without connections because of a reason first, then the busiest. */
  readonly endpoints: readonly EndpointAnswer[];
  readonly endpointCount: number;
  /** Of all endpoints, also those that are left out. */
  readonly selectedCount: number;
}

export interface FrontendAnswer {
  readonly kind: 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';
  /** `10.96.0.1:80`, `[fd00::1]:80` or `node port 30080`. */
  readonly at: string;
  /** What `/data/path` takes as its target; absent for a node port. */
  readonly target?: string;
  readonly port: number;
  /** Absent: all sources are allowed. */
  readonly allowedSources?: readonly string[];
  /** Why it is not served, in words; absent: it is. */
  readonly notServed?: string;
  readonly outcomes: Readonly<Record<SourceClassName, OutcomeAnswer>>;
}

export interface OutcomeAnswer {
  readonly action: 'forward' | 'reject' | 'drop';
  /** Of a forwarded one. */
  readonly list?: 'cluster' | 'local';
  readonly masquerade?: boolean;
}

export interface EndpointAnswer {
  /** `address:port`. */
  readonly endpoint: string;
  /** Empty: not known. */
  readonly nodeName: string;
  readonly isHere: boolean;
  readonly state: 'ready' | 'terminating' | 'not ready' | 'gone';
  /** In the list for the whole cluster, and in that for traffic policy Local. */
  readonly selected: { readonly cluster: boolean; readonly local: boolean };
  /** Why it gets no connections, in words; absent: it is selected. */
  readonly because?: string;
  /** Its counter: connections since it was written to the kernel. */
  readonly connections?: number;
  readonly newPerSecond?: number;
  /** Its part of the connections of its port in the last seconds, from 0 to 1. */
  readonly share?: number;
  readonly live?: number;
}

export interface KernelState {
  readonly is: 'applied' | 'waiting' | 'rejected';
  readonly forMs?: number;
  /** Of a rejected one, in words. */
  readonly error?: string;
}

export interface Change {
  /** The order; dates may contradict it where the clock was set. */
  readonly seq: number;
  /** `namespace/name`; empty: it concerns the whole node. */
  readonly service: string;
  readonly atMs: number;
  readonly kind:
    | 'started'
    | 'service'
    | 'endpoints'
    | 'node'
    | 'flows'
    | 'drift'
    | 'repaired'
    | 'rejected'
    | 'node settings'
    | 'configuration'
    | 'condition'
    | 'first sync';
  /** `bad`: something is wrong since. `good`: it is right again. */
  readonly tone: 'bad' | 'good' | 'usual';
  /** One sentence without its subject's name, at most 600 characters. */
  readonly sentence: string;
  /** `waiting`: not in the kernel yet. Absent: the kernel has no part in it. */
  readonly kernel?: 'kernel' | 'unneeded' | 'waiting';
  readonly settledAfterMs?: number;
  /** Who wrote the object, as the API server recorded it, or the program that changed the kernel. */
  readonly by?: string;
  /** Name of the EndpointSlice. */
  readonly slice?: string;
  readonly resourceVersion?: string;
  /** It happened again. */
  readonly again?: { readonly count: number; readonly lastAtMs: number };
}

export interface ChangesAnswer {
  /** Of this run of the agent: another one counts from the beginning. */
  readonly run: string;
  /** Newest first, at most 100. */
  readonly changes: readonly Change[];
  /** For `before` of the next page; absent: there are no older ones. */
  readonly next?: number;
  readonly begunAtMs: number;
  /** Everything since then is here. */
  readonly completeSinceMs: number;
  /** Entries that had to make room. */
  readonly droppedCount: number;
}

/** What `fairlead explain -o json` prints. */
export interface PathAnswer {
  /** One of the codes in docs/explain.md. */
  readonly code: string;
  readonly reaches: boolean;
  readonly sentence: string;
  readonly node: string;
  readonly mode: string;
  readonly question: {
    readonly target: string;
    /** `namespace/name:port`; absent: no Service has the address. */
    readonly service?: string;
    readonly kind?: FrontendAnswer['kind'];
    /** `address:port`; empty: a node port, at no address in particular. */
    readonly frontend: string;
    readonly protocol: ProtocolName;
    readonly from: {
      readonly class: SourceClassName;
      readonly because: string;
      readonly address?: string;
      /** `namespace/name`. */
      readonly pod?: string;
      readonly otherNode?: string;
    };
  };
  readonly predicted: {
    readonly code: string;
    readonly action: string;
    readonly list?: 'cluster' | 'local';
    readonly masquerade?: boolean;
    readonly endpoints?: readonly string[];
    readonly affinitySeconds?: number;
  };
  /** Null: no packet was sent. */
  readonly proof: PathProof | null;
  /** Why no packet was sent, or its path could not be read. */
  readonly notProven?: string;
  readonly candidates: readonly PathCandidate[];
  readonly elsewhere: readonly {
    readonly where: string;
    readonly code: string;
    readonly more: string;
  }[];
  readonly agent: {
    readonly pid: number;
    readonly row?: { readonly is: 'applied' | 'waiting' | 'rejected' };
    readonly detached: readonly string[];
    readonly troubles: readonly Trouble[];
  } | null;
  readonly remarks: readonly { readonly topic: string; readonly text: string }[];
  /** What to do. */
  readonly next: readonly string[];
}

export interface PathProof {
  readonly kind: 'dry' | 'syn' | 'connect' | 'watched';
  /** `address:port` of the probe. */
  readonly source: string;
  readonly outcome: PathOutcome;
  readonly answer:
    | { readonly is: 'accepted' | 'refused' | 'answered'; readonly afterMs: number }
    | { readonly is: 'unreachable'; readonly code: string; readonly afterMs: number }
    | { readonly is: 'silent' };
  /** Rules that matched, in order; those of other programs too. */
  readonly steps: readonly PathStep[];
  /** The packet of the connection that the kernel dropped; null: none was seen. */
  readonly drop: {
    /** The kernel's name for the reason. */
    readonly reason?: string | undefined;
    /** The kernel function that dropped it. */
    readonly function?: string | undefined;
    readonly device: string;
    /** Whether it happened in the network namespace of the agent. */
    readonly isHere: boolean;
    readonly cause: {
      readonly code: string;
      readonly sentence: string;
      readonly next: readonly string[];
    };
  } | null;
  readonly dropsUnread?: string;
  /** False: the kernel had no room for some events. */
  readonly isComplete: boolean;
  /** What stays after the probe, in words; empty: nothing. */
  readonly leftBehind: readonly string[];
  /** Whether the packet did what was predicted. */
  readonly agrees: boolean;
}

export interface PathRule {
  /** `ip fairlead`. */
  readonly table: string;
  readonly chain: string;
  /** Absent: the policy of the chain. */
  readonly handle?: number;
  /** Whether it is Fairlead's. */
  readonly ours: boolean;
}

export interface PathStep extends PathRule {
  /** `prerouting`, `forward` …; empty: not known. */
  readonly hook: string;
  /** Of an eBPF program, an entry of the map that `chain` names; absent: it is a rule. */
  readonly entry?: string;
  /** In words, for rules of Fairlead. */
  readonly does?: string;
  readonly verdict: string;
  /** The chain that it goes on in. */
  readonly target?: string;
  /** The packet as it comes to the hook. */
  readonly packet?: { readonly source: string; readonly destination: string };
}

export type PathOutcome =
  | {
      readonly is: 'forwarded';
      readonly endpoint: string;
      readonly seenAs: string;
      /** A program translated it: the socket when it connected, or the packet. */
      readonly byProgram?: 'socket' | 'packet' | 'process';
    }
  | { readonly is: 'handed over'; readonly reached?: false }
  | { readonly is: 'passed' }
  | { readonly is: 'dropped' | 'rejected'; readonly by: PathRule }
  /** No rule dropped it, and it did not come to the end. `after`: the last hook it met. */
  | { readonly is: 'lost'; readonly after: string };

export interface PathCandidate {
  readonly endpoint: string;
  readonly nodeName: string;
  readonly local: boolean;
  readonly state: EndpointAnswer['state'];
  readonly selected: boolean;
  /** It gets one of so many new connections. */
  readonly oneOf?: number;
  readonly chosenIf?: string;
  /** Why it gets none. */
  readonly because?: string;
  readonly hairpin?: true;
  readonly keepsSource?: true;
  readonly nodeSource?: true;
}

/** What `fairlead doctor -o json` prints, and when. */
export interface DoctorAnswer {
  readonly atMs: number;
  readonly verdict: 'healthy' | 'problems' | 'incomplete';
  readonly problems: number;
  readonly notes: number;
  readonly passed: number;
  readonly unasked: number;
  readonly mode: string;
  readonly node?: string;
  readonly results: readonly DoctorResult[];
  /** Which modes could run here; `missing` is empty for those. */
  readonly modes: readonly { readonly mode: string; readonly missing: readonly string[] }[];
}

export interface DoctorResult {
  readonly check: string;
  readonly level: 'ok' | 'note' | 'problem' | 'unasked';
  readonly code: string;
  /** The thing and its value, such as `net.ipv4.ip_forward = 0`. */
  readonly what: string;
  readonly why?: string;
  readonly next?: string;
}
