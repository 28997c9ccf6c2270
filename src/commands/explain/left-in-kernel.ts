import { describeError } from '../../cluster/cluster-error.ts';
import type { LeftInKernel } from '../../explain/absent-agent.ts';
import { allParts } from '../../modes/mode-registry.ts';
import { ifInstalled } from '../../modes/remove-part.ts';
import type { Basis } from '../basis/basis.ts';

/** Read where this machine is asked about and has no agent; undefined: it has one, or another is asked. */
export async function leftInKernel(basis: Basis): Promise<LeftInKernel | undefined> {
  if (basis.by === 'agent' || !basis.isWithoutAgent) return undefined;
  const { pinFolder, cgroupPath } = basis.config.settings.ebpf;
  const ebpf = cgroupPath === undefined ? { pinFolder } : { pinFolder, cgroupPath };
  try {
    for (const part of await allParts()) {
      const plane = part.open({ ebpf, isCleanup: true });
      const held = (await ifInstalled(() => plane.read('inventory'))) ?? [];
      if (held.some(({ count }) => count > 0)) return { is: 'rules' };
    }
    return { is: 'nothing' };
  } catch (error) {
    return { is: 'unknown', why: describeError(error) };
  }
}
