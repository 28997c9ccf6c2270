import { BpfError } from '../../../../linux/ebpf/bpf-error.ts';
import { type BpfProgram, mapIdsOf } from '../../../../linux/ebpf/bpf-program.ts';
import { openMapById, openProgramById } from '../../../../linux/ebpf/enumerate.ts';
import { MAP_NAMES } from '../maps/map-set.ts';

/** By the name of a program and those of its maps: a Fairlead attached it. */
export function looksLikeOurs(programId: number, name: string): boolean {
  const program = openPermitted(programId);
  try {
    if (program?.name !== name) return false;
    const maps = mapIdsOf(program).map(mapName);
    return maps.length > 0 && maps.every((map) => MAP_NAMES.includes(map));
  } finally {
    program?.close();
  }
}

function mapName(id: number): string {
  const map = openMapById(id);
  map?.close();
  return map?.name ?? '';
}

/**
 * Undefined: it is gone, or must not be opened. Opening a program by its id needs CAP_SYS_ADMIN:
 * without it, one that may be ours is replaced by an equal one in one step.
 */
function openPermitted(programId: number): BpfProgram | undefined {
  try {
    return openProgramById(programId);
  } catch (error) {
    if (error instanceof BpfError && error.code === 'BPF_NOT_PERMITTED') return undefined;
    throw error;
  }
}

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
