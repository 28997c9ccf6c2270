import type { DefineSeries } from '../agent/metrics/agent-metrics.ts';
import type { FailureNames } from '../agent/metrics/kube-proxy-metrics.ts';
import type { ModeName } from '../config/modes.ts';
import type { Settings } from '../config/settings.ts';
import type { DataPlane, Desired, KernelFrontend, NodeFacts } from '../dataplanes/contract.ts';
import type { LeftAlone, MadeBy, UnevenChoice } from '../forwarding/answer/place.ts';
import type { Family, Forwarding, ServicePortKey, SourceClass } from '../forwarding/model.ts';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { NeededSysctl } from '../linux/needed-sysctl.ts';
import type { CopiedConnections } from './copied-connections.ts';
import type { Page } from './pages/rendered-page.ts';
import type { Part, Surroundings } from './part.ts';
import type { ModeProof } from './proof/mode-proof.ts';
import type { ServiceNeeds } from './service-needs.ts';

/** A mode at work: its plane, and what no other mode has. */
export interface OpenMode {
  readonly plane: DataPlane;
  /** Its own fields of the page of `fairlead status`. Undefined: none. */
  statusFields?(atMs: number): Promise<object>;
  /** Its own series. Undefined: none. */
  readonly series?: DefineSeries;
  /**
   * Connections of each service port, where one read has all of them without conntrack. Undefined:
   * the events of conntrack tell which Services are busy.
   */
  connectionTotals?(): Promise<ReadonlyMap<ServicePortKey, number>>;
  /**
   * For IPVS, after the first sync: virtual servers of another proxy are its own from now on. Their
   * connections go on; those that no row wants drain.
   */
  adoptServers?(servers: readonly Required<KernelFrontend>[]): Promise<void>;
  /**
   * After `release`, where processes end with the agent: resolves when the mode's own process has no
   * connection left, because they ended or another process took them over, or when its deadline is over.
   */
  drained?(): Promise<void>;
}

/**
 * A way to forward packets, as one value: everything outside of `src/dataplanes` that differs
 * between modes. To add a mode, write such a value and name it in the registry.
 */
export interface Mode {
  readonly name: ModeName;
  /** What the service that runs it must be allowed. */
  readonly service: ServiceNeeds;
  /** In the order of removal: what packets reach first is removed first. */
  readonly parts: readonly Part[];
  /** Settings of the kernel; `cleanup` restores them. Undefined: none. */
  readonly sysctls?: readonly NeededSysctl[];
  /** Prepares the machine; run with privileges by `run --init-only`, and without by `run`. */
  prepare?(settings: Settings, around: Pick<Surroundings, 'setSysctl'>): void | Promise<void>;
  open(around: Surroundings): OpenMode;
  /** Where the kernel keeps the endpoint that a flow was sent to. */
  flows(around: Surroundings, onProblem: (error: unknown) => void): Conntrack;
  /** For `render`: a page for each row that is wanted. All rows are given: numbers depend on all. */
  pages(
    desired: Desired,
    isWanted: (row: Forwarding) => boolean,
    settings: Settings,
  ): readonly Page[];
  /** For `render --raw`: one family as the kernel's own tools print or read it. */
  raw(desired: Desired, family: Family, settings: Settings): string;
  /** For `explain`: packets that its rules neither reject nor drop. Undefined: none. */
  readonly leavesAlone?: LeftAlone;
  /** For `explain`: how a packet proves its path. Undefined: it cannot in this mode. */
  readonly proof?: ModeProof;
  /** For `explain`: how it chooses endpoints. Undefined: each gets the same share. */
  unevenChoice?(settings: Settings): UnevenChoice;
  /** For `explain`: what makes a connection. Undefined: its rules translate packets. */
  madeBy?(facts: NodeFacts): MadeBy;
  /** For `status --connections`: which connections have no conntrack entry. Undefined: all have one. */
  readonly unseenConnections?: string;
  /** For `top`: the source classes of those. Undefined: none. */
  readonly unseenSources?: readonly SourceClass[];
  /** For `top`: the kernel tells of no conntrack entry that a program of the mode makes. */
  readonly makesSilentEntries?: true;
  /** For `status --connections`: the connections that a process of the mode copies. Undefined: none. */
  readonly copied?: CopiedConnections;
  /** Names that kube-proxy has for failures in this mode. */
  readonly failureMetrics: FailureNames;
  /** Its chains have the names of kube-proxy's, so that each takes over from the other. */
  readonly usesKubeProxyChains?: true;
  /** Whether each scrape may read what is attached: not where that starts programs. */
  readonly readsAttachmentsCheaply: boolean;
}
