/** One thing in the file system of the image. Paths have no slash at their beginning. */
export type Entry = FileEntry | FolderEntry | LinkEntry;

export interface FileEntry {
  readonly kind: 'file';
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable?: boolean;
  /** The package that it is of; Fairlead's own files have none. */
  readonly from?: PackageKey;
  /** As an SPDX expression, where it is not that of the package. */
  readonly license?: string;
}

/** A package, as its line in pins.txt begins: `npm zod`, `debian libc6`. */
export type PackageKey = `${'npm' | 'debian'} ${string}`;

export interface FolderEntry {
  readonly kind: 'folder';
  readonly path: string;
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly path: string;
  readonly target: string;
}

/** With every folder on the way to an entry, in an order in which each can be made. */
export function completed(entries: readonly Entry[]): readonly Entry[] {
  const byPath = new Map<string, Entry>();
  for (const entry of entries) {
    for (const path of foldersAbove(entry.path)) {
      if (!byPath.has(path)) byPath.set(path, { kind: 'folder', path });
    }
    byPath.set(entry.path, entry);
  }
  // A folder is the beginning of the paths below it, and so sorts before them.
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function modeOf(entry: Entry): number {
  if (entry.kind === 'link') return 0o777;
  return entry.kind === 'folder' || entry.isExecutable ? 0o755 : 0o644;
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
