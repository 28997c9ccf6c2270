import { anyProxySabotages } from './any-proxy.ts';
import { latenessSabotages } from './lateness.ts';
import { outsideSabotages } from './outside.ts';
import type { Sabotage } from './sabotage.ts';
import { upstreamNftablesSabotages } from './upstream-nftables.ts';

const SABOTAGES: readonly Sabotage[] = [
  ...upstreamNftablesSabotages,
  ...anyProxySabotages,
  ...latenessSabotages,
  ...outsideSabotages,
];

/** The sabotages that can be done to a proxy. */
export function sabotagesFor(proxy: string): Sabotage[] {
  return SABOTAGES.filter((sabotage) => sabotage.proxies?.includes(proxy) ?? true);
}
