import { type DataPlane, type KernelFrontend, PlaneError } from '../dataplanes/contract.ts';

export type RemovablePlane = Pick<DataPlane, 'frontends' | 'remove'>;

/**
 * Removes all that a part has in the kernel; gives the addresses that it translated. Undefined: the
 * programs it needs are not installed, as in an image made for another mode.
 */
export async function removePart(
  plane: RemovablePlane,
): Promise<readonly KernelFrontend[] | undefined> {
  try {
    const frontends = await plane.frontends();
    await plane.remove();
    return frontends;
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'IPTABLES_MISSING') return undefined;
    throw error;
  }
}
