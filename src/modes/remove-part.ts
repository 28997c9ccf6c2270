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

export type RemovablePlane = Pick<DataPlane, 'read' | 'remove' | 'retire'>;

/**
 * Removes all that a part has in the kernel, when the connections that it carries itself have ended;
 * gives how many addresses it translated until now. `draining`: call it again.
 */
export async function retirePart(
  plane: RemovablePlane,
): Promise<{ readonly frontends: number; readonly left: 'draining' | 'removed' }> {
  const frontends = (await ifInstalled(() => plane.read('frontends')))?.length ?? 0;
  const left = await ifInstalled(async () => await (plane.retire?.() ?? plane.remove()));
  return { frontends, left: left ?? 'removed' };
}
