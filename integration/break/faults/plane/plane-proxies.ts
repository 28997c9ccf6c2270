import { FAIRLEAD_PROXIES, type FairleadProxy } from '../../../../lab/proxies/fairlead-modes.ts';

/** Modes whose rules are the table of nftables, alone or behind programs, in the order of switching. */
const PROXIES = FAIRLEAD_PROXIES.filter(
  ({ rules, forwarder }) => rules === 'nftables' && forwarder !== 'dead',
);

export const PLANE_PROXIES: readonly string[] = PROXIES.map(({ name }) => name);

export function planeProxy(name: string): FairleadProxy {
  const found = PROXIES.find((each) => each.name === name);
  if (found) return found;
  throw new TypeError(`unknown proxy ${name}; choose from ${PLANE_PROXIES.join(', ')}`);
}
