import type { Mode } from '../../config/modes.ts';
import { type KernelFrontend, PlaneError } from '../../dataplanes/contract.ts';
import { openPlane } from './plane.ts';

/**
 * Takes away all that a mode has in the kernel; gives the addresses that it translated. Undefined:
 * the programs it needs are not here, as in an image made for another mode.
 */
export async function removePlane(mode: Mode): Promise<readonly KernelFrontend[] | undefined> {
  const plane = openPlane(mode);
  try {
    const frontends = await plane.frontends();
    await plane.remove();
    return frontends;
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'IPTABLES_MISSING') return undefined;
    throw error;
  }
}
