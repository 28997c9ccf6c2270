import type { Layer } from './table.ts';

/** Where a file is: its layer, and the folder within it if the layer's path has a `*`. */
export interface Place {
  readonly layer: Layer;
  readonly wing: string | undefined;
}

/** The place of a file, by the most specific path of the table. */
export function placeOf(file: string, layers: readonly Layer[]): Place | undefined {
  const parts = file.split('/');
  let best: { place: Place; depth: number } | undefined;
  for (const layer of layers) {
    for (const path of layer.paths) {
      const depth = path.split('/').length;
      if (depth <= (best?.depth ?? 0)) continue;
      const match = matchPath(path, parts);
      if (match !== undefined) best = { place: { layer, wing: match.wing }, depth };
    }
  }
  return best?.place;
}

export function isSamePlace(one: Place, other: Place): boolean {
  return one.layer === other.layer && one.wing === other.wing;
}

function matchPath(
  path: string,
  parts: readonly string[],
): { wing: string | undefined } | undefined {
  const isFolder = path.endsWith('/');
  const wanted = path.split('/').filter((part) => part !== '');
  // A folder matches the files in it, not a file of the same name.
  const lengthFits = isFolder ? parts.length > wanted.length : parts.length === wanted.length;
  const matches = wanted.every((part, index) => part === '*' || part === parts[index]);
  if (!lengthFits || !matches) return undefined;
  const star = wanted.indexOf('*');
  return { wing: star === -1 ? undefined : parts[star] };
}
