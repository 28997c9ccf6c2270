import type { Scheduler } from '../../../forwarding/scheduler.ts';
import type { Ipvs, IpvsTimeouts, VirtualServerKey } from '../../../linux/ipvs/ipvs-model.ts';
import type { CaptureTables } from './capture/capture-model.ts';

export interface IpvsPlaneOptions {
  /** Its first request loads the kernel module. */
  readonly ipvs: Ipvs;
  readonly capture: CaptureTables;
  /** Of rows that name none. */
  readonly scheduler: Scheduler;
  /** 0: as it is. Called at each full inspection, because conntrack's may change. */
  readonly timeouts: () => IpvsTimeouts;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The connections of these go on as captured ones: sets these bits of their connection marks. */
  readonly markConnections?: (servers: readonly VirtualServerKey[], bits: number) => Promise<void>;
  /**
   * Deletes their conntrack entries. Without IPVS nothing translates such a flow, and while packets of it
   * come, the rules of another proxy never see it as a new one.
   */
  readonly forgetConnections?: (servers: readonly VirtualServerKey[]) => Promise<void>;
  /** Rows whose node ports move to other addresses at once; undefined: 100. */
  readonly rowsAtOnce?: number;
  /** See `Room`; undefined: its own. */
  readonly mostWeight?: number;
  /** `virtualServerId` of those that kube-proxy, started meanwhile, has at addresses of its own. */
  readonly servedByKubeProxy?: () => Promise<ReadonlySet<string>>;
  /** Addresses of the machine, but for those on kube-proxy's device; undefined: those of the facts. */
  readonly readOwn?: () => Promise<ReadonlySet<string>>;
  /** Sets what exists only after the kernel module was loaded. */
  readonly prepare: () => Promise<void>;
}
