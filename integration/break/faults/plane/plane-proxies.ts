import { kernelHas } from '../../../../lab/host/kernel-parts.ts';
import {
  FAIRLEAD_PROXIES,
  type FairleadProxy,
  kernelPartsOf,
} from '../../../../lab/proxies/fairlead-modes.ts';

/** One of each mode, those that the kernel can run. */
const PROXIES = FAIRLEAD_PROXIES.filter(
  ({ isLegacy, forwarder, mode, hasPrograms }) =>
    !isLegacy &&
    forwarder !== 'dead' &&
    kernelPartsOf(mode).every(kernelHas) &&
    (!hasPrograms || kernelHas('btf')),
);

/** For what is done to a node in whatever mode. */
export const SCENE_PROXIES: readonly string[] = PROXIES.map(({ name }) => name);

/** Modes whose rules are the table of nftables, alone or behind programs, in the order of switching. */
export const PLANE_PROXIES: readonly string[] = PROXIES.filter(
  ({ rules }) => rules === 'nftables',
).map(({ name }) => name);

export function planeProxy(name: string): FairleadProxy {
  const found = PROXIES.find((each) => each.name === name);
  if (found) return found;
  throw new TypeError(`unknown proxy ${name}; choose from ${SCENE_PROXIES.join(', ')}`);
}
