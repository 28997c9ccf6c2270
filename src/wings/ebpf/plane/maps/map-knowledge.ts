import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import type { ServicePortKey } from '../../../../forwarding/model.ts';
import type { Binary } from './binary.ts';
import type { PodNetwork } from './pod-network-entry.ts';
import { type SlotRange, SlotSpace } from './slot-space.ts';
import { StickyPorts } from './sticky-ports.ts';

/**
 * The state of the maps that the plane tracks without reading them: where each row has its
 * endpoints, and the sums by which a scan detects writes of another process.
 */
export class Knowledge {
  facts: NodeFacts | undefined;
  /** Undefined: it does not matter which endpoints are outside of it. */
  podNetwork: PodNetwork | undefined;
  readonly lists = new Map<ServicePortKey, SlotRange>();
  /** Frontends that the kernel has of `unknown` rows. */
  readonly present = new Map<ServicePortKey, readonly Binary[]>();
  /** Replaced as a whole by an inspection: a sweep must not see half of it. */
  sticky = new StickyPorts();
  space = new SlotSpace({ capacity: 0 });
  frontendCount = 0;
  frontendSum = 0;
  /** A print for every slot that was written; 0: none was. */
  slotPrints = new Uint32Array(0);

  forget(): void {
    this.facts = undefined;
    this.podNetwork = undefined;
    this.lists.clear();
    this.present.clear();
    this.space = new SlotSpace({ capacity: 0 });
    this.frontendCount = 0;
    this.frontendSum = 0;
    this.slotPrints = new Uint32Array(0);
  }

  noteFrontend(print: number, by: 1 | -1): void {
    this.frontendCount += by;
    this.frontendSum = (this.frontendSum + by * print) >>> 0;
  }
}
