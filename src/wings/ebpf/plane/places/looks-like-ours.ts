import { openMapById } from '../../../../linux/ebpf/enumerate.ts';
import { mapIdsOf } from '../../../../linux/ebpf/program-maps.ts';
import { MAP_NAMES } from '../maps/map-names.ts';
import { openPermitted } from './open-permitted.ts';

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
