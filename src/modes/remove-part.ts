import { type DataPlane, PlaneError } from '../dataplanes/contract.ts';

/** Undefined: the programs that a part needs are not installed, as in an image for another mode. */
export async function ifInstalled<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'IPTABLES_MISSING') return undefined;
    throw error;
  }
}

export type RemovablePlane = Pick<DataPlane, 'frontends' | 'isAbsent' | 'remove' | 'retire'>;

/**
 * Removes all that a part has in the kernel, when the connections that it carries itself have ended;
 * gives how many addresses it translated until now. `draining`: call it again.
 */
export async function retirePart(
  plane: RemovablePlane,
): Promise<{ readonly frontends: number; readonly left: 'draining' | 'removed' }> {
  if (await plane.isAbsent?.()) return { frontends: 0, left: 'removed' };
  const frontends = (await ifInstalled(() => plane.frontends()))?.length ?? 0;
  if (plane.retire) return { frontends, left: await plane.retire() };
  await ifInstalled(() => plane.remove());
  return { frontends, left: 'removed' };
}
