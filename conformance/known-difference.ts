import { DEFAULT_NETWORK } from '../lab/network/variants/registry.ts';
import type { KnownDifference, Otherwise } from './scenario.ts';

/** Which proxy answers, and on what network. */
export interface Place {
  readonly proxy: string;
  readonly network: string;
}

/** How this proxy on this network is known to behave: what names both is nearest, then the network. */
export function differenceOf(
  otherwise: Otherwise | undefined,
  { proxy, network }: Place,
): KnownDifference | undefined {
  return otherwise?.[`${proxy}@${network}`] ?? otherwise?.[`@${network}`] ?? otherwise?.[proxy];
}

/** The column that the results of this proxy on this network stand in. */
export function labelOf({ proxy, network }: Place): string {
  return network === DEFAULT_NETWORK ? proxy : `${proxy}@${network}`;
}
