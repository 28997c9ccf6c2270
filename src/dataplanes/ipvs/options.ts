import type { Scheduler } from '../../forwarding/scheduler.ts';
import type { Ipvs, IpvsTimeouts } from '../../linux/ipvs/model.ts';
import type { FrontendCapture } from './capture/capture.ts';

export interface IpvsPlaneOptions {
  /** Opens nothing yet: the first request loads the kernel module. */
  readonly ipvs: Ipvs;
  readonly capture: FrontendCapture;
  /** Of rows that name none. */
  readonly scheduler: Scheduler;
  /** 0: as it is. Read at each full inspection, because conntrack's may change. */
  readonly timeouts: () => IpvsTimeouts;
  /** Settings of the kernel module, which exist only after it was loaded. */
  readonly prepare: () => Promise<void>;
}
