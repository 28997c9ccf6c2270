import { type Cidr, contains, parseCidrs } from '../addresses/cidr.ts';
import { parseIp } from '../addresses/ip.ts';
import type { Forwarding, NodeView, NotServed } from './model.ts';

/**
 * Which cluster IPs are served. A machine outside of the cluster serves those of its configured
 * ranges only: otherwise whoever administers the cluster could take its traffic to any address.
 */
export class ClusterIps {
  /** Undefined: every cluster IP is served. */
  #ranges: readonly Cidr[] | undefined;
  #refusal: NotServed = { reason: 'outside-ranges', ranges: [] };

  setView({ onlyServiceRanges, serviceRanges }: NodeView): void {
    this.#ranges = onlyServiceRanges ? parseCidrs(serviceRanges) : undefined;
    this.#refusal = { reason: 'outside-ranges', ranges: serviceRanges };
  }

  /** Why the cluster IP of a row is not served; undefined: no objection. */
  refusal(row: Forwarding | undefined): NotServed | undefined {
    if (this.#ranges === undefined) return undefined;
    const address = row?.frontends.find(({ kind }) => kind === 'cluster-ip')?.address;
    if (address === undefined) return undefined;
    const ip = parseIp(address);
    const isInside = ip !== undefined && this.#ranges.some((range) => contains(range, ip));
    return isInside ? undefined : this.#refusal;
  }
}
