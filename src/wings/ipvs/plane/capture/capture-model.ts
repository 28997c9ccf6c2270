import type {
  Attachment,
  Difference,
  Drift,
  Holding,
  NodeFacts,
} from '../../../../dataplanes/contract.ts';
import type { VirtualServerKey } from '../../../../linux/ipvs/ipvs-model.ts';
import type { CapturedFrontend } from './frontend.ts';

/**
 * One transaction on the elements of both tables. The caller knows what the kernel has: the kernel
 * rejects the whole of it when an element of `retake`, `pass`, `serversDelete`, `rejectedDelete` or
 * `hairpinDelete` is not there, or one of `take` is there with another capture.
 */
export interface CaptureChange {
  /** New in the map. */
  readonly take?: readonly CapturedFrontend[];
  /** In the map with another capture. */
  readonly retake?: readonly CapturedFrontend[];
  /** Leave the map: new connections go to the rules behind, captured ones stay with IPVS. */
  readonly pass?: readonly VirtualServerKey[];
  /** Virtual servers that are ours. Adding one twice is no error. */
  readonly serversAdd?: readonly VirtualServerKey[];
  readonly serversDelete?: readonly VirtualServerKey[];
  /** Virtual servers that IPVS rejected, or that another process has. Adding one twice is no error. */
  readonly rejectedAdd?: readonly VirtualServerKey[];
  readonly rejectedDelete?: readonly VirtualServerKey[];
  /** Addresses of endpoints on this node. Adding one twice is no error. */
  readonly hairpinAdd?: readonly string[];
  readonly hairpinDelete?: readonly string[];
}

/** Every element in the kernel; keys are `virtualServerId`. */
export interface CaptureElements {
  readonly captured: ReadonlyMap<string, CapturedFrontend>;
  readonly servers: ReadonlyMap<string, VirtualServerKey>;
  /** Wanted by rows, and left to the rules behind. */
  readonly rejected: ReadonlyMap<string, VirtualServerKey>;
  /** Addresses. */
  readonly hairpin: ReadonlySet<string>;
}

export interface Ensured {
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  readonly writeCount: number;
}

/** `retired`: no new connection is captured, those that were captured go on. */
export type CaptureState = 'absent' | 'active' | 'retired';

/**
 * The nftables tables `fairlead-ipvs`, the routing rule and the route that give connections to IPVS.
 * `ensure`, `configure`, `write`, `retire` and `remove` must not overlap; the others may be called
 * beside them. Rejects with a PlaneError.
 */
export interface CaptureTables {
  /**
   * Whether connections were captured with another mark than these facts have: after `ensure` or
   * `configure` only those go on that have the new one as well.
   */
  hasOtherMark(facts: NodeFacts): Promise<boolean>;
  /** Adds or repairs all but the elements; makes retired tables active again. */
  ensure(facts: NodeFacts): Promise<Ensured>;
  /** What `ensure` would repair, without a write. */
  diff(facts: NodeFacts): Promise<readonly Difference[]>;
  /** After `ensure`: the same with other facts, cheaper. */
  configure(facts: NodeFacts): Promise<void>;
  write(change: CaptureChange): Promise<void>;
  read(): Promise<CaptureElements>;
  /** Reports changes by other processes until the signal is aborted. */
  watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void>;
  /** Whether `watch` has reported something since the last call. */
  takeReported(): boolean;
  attachments(): Promise<readonly Attachment[]>;
  state(): Promise<CaptureState>;
  inventory(): Promise<readonly Holding[]>;
  retire(): Promise<void>;
  remove(): Promise<void>;
}
