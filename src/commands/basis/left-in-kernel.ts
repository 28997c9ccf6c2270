import type { LeftInKernel } from '../../doctor/subject.ts';
import { allParts } from '../../modes/mode-registry.ts';
import type { Surroundings } from '../../modes/part.ts';
import { ifInstalled } from '../../modes/remove-part.ts';
import { holdingText } from '../cleanup/clean-machine.ts';

/** Reads what every mode has in the kernel. A part that cannot be read does not hide the others. */
export async function leftInKernel(
  around: Pick<Surroundings, 'ebpf' | 'runFolder'>,
): Promise<LeftInKernel> {
  const objects: string[] = [];
  const unread: string[] = [];
  for (const part of await allParts()) {
    try {
      const plane = part.open({ ...around, isCleanup: true });
      const held = (await ifInstalled(() => plane.read('inventory'))) ?? [];
      objects.push(...held.filter(({ count }) => count > 0).map(holdingText));
    } catch (error) {
      unread.push(`${part.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { objects, unread };
}
