import { type KernelFrontend, PlaneError } from '../../dataplanes/contract.ts';
import { openPart, type PlanePart, type PlaneSurroundings } from './plane.ts';

/**
 * Takes away all that a part has in the kernel; gives the addresses that it translated. Undefined:
 * the programs it needs are not here, as in an image made for another mode.
 */
export async function removePart(
  part: PlanePart,
  around: PlaneSurroundings,
): Promise<readonly KernelFrontend[] | undefined> {
  const plane = openPart(part, around);
  try {
    const frontends = await plane.frontends();
    await plane.remove();
    return frontends;
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'IPTABLES_MISSING') return undefined;
    throw error;
  }
}
