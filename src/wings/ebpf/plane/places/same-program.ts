import type { BpfProgram } from '../../../../linux/ebpf/program.ts';
import { mapIdsOf } from '../../../../linux/ebpf/program-maps.ts';
import { openPermitted } from './open-permitted.ts';

/** Whether a running program is ours: the same instructions on the same maps. */
export class SamePrograms {
  /** Ids of those that were found to be. */
  readonly #known = new Set<number>();

  isSame(programId: number, ours: BpfProgram): boolean {
    if (programId === ours.id || this.#known.has(programId)) return true;
    const found = openPermitted(programId);
    if (found === undefined) return false;
    try {
      const isSame = found.tag === ours.tag && String(mapIdsOf(found)) === String(mapIdsOf(ours));
      if (isSame) this.#known.add(programId);
      return isSame;
    } finally {
      found.close();
    }
  }

  forget(): void {
    this.#known.clear();
  }
}
