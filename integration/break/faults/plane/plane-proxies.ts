import { kernelHas } from '../../../../lab/host/kernel-parts.ts';
import {
  FAIRLEAD_PROXIES,
  type FairleadProxy,
  kernelPartsOf,
} from '../../../../lab/proxies/fairlead-modes.ts';

/**
 * Modes whose rules are the table of nftables, alone or behind programs, in the order of switching;
 * those that the kernel can run.
 */
const PROXIES = FAIRLEAD_PROXIES.filter(
  ({ rules, forwarder, mode, hasPrograms }) =>
    rules === 'nftables' &&
    forwarder !== 'dead' &&
    kernelPartsOf(mode).every(kernelHas) &&
    (!hasPrograms || kernelHas('btf')),
);

export const PLANE_PROXIES: readonly string[] = PROXIES.map(({ name }) => name);

export function planeProxy(name: string): FairleadProxy {
  const found = PROXIES.find((each) => each.name === name);
  if (found) return found;
  throw new TypeError(`unknown proxy ${name}; choose from ${PLANE_PROXIES.join(', ')}`);
}
