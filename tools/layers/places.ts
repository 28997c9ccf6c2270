import type { Room } from './table.ts';

/** Where a file stands: its room, and the folder within it when the room keeps folders apart. */
export interface Place {
  readonly room: Room;
  readonly wing: string | undefined;
}

/** The place of a file, by the path of the table that says most about it. */
export function placeOf(file: string, rooms: readonly Room[]): Place | undefined {
  const parts = file.split('/');
  let best: { place: Place; depth: number } | undefined;
  for (const room of rooms) {
    for (const path of room.paths) {
      const depth = path.split('/').length;
      if (depth <= (best?.depth ?? 0)) continue;
      const match = matchPath(path, parts);
      if (match !== undefined) best = { place: { room, wing: match.wing }, depth };
    }
  }
  return best?.place;
}

export function isSamePlace(one: Place, other: Place): boolean {
  return one.room === other.room && one.wing === other.wing;
}

function matchPath(
  path: string,
  parts: readonly string[],
): { wing: string | undefined } | undefined {
  const isFolder = path.endsWith('/');
  const wanted = path.split('/').filter((part) => part !== '');
  // A folder matches what lies in it, not a file that bears its name.
  const lengthFits = isFolder ? parts.length > wanted.length : parts.length === wanted.length;
  const matches = wanted.every((part, index) => part === '*' || part === parts[index]);
  if (!lengthFits || !matches) return undefined;
  const star = wanted.indexOf('*');
  return { wing: star === -1 ? undefined : parts[star] };
}
