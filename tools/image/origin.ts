import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A source of what ships: a package of npm or of Debian in one version, or our compiler's output. */
export interface Origin {
  readonly kind: 'npm' | 'debian' | 'bpf';
  readonly name: string;
  /** Version of the package; of the compiler for what we compile. */
  readonly version: string;
  /** `all` where the bytes are the same for every machine. */
  readonly architecture: string;
  /** Over names and contents of its files. */
  readonly sha256: string;
}

/** Bytes that ship, by the path that they have where the image is made. */
export interface NamedBytes {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export const EVERY_ARCHITECTURE = 'all';

/** One hash of many files, whatever their order: that of the lines that `sha256sum` prints of them. */
export function hashOfFiles(files: readonly NamedBytes[]): string {
  const lines = files.map(({ path, bytes }) => `${sha256(bytes)}  ${path}\n`);
  return sha256(Buffer.from(lines.sort().join('')));
}

/**
 * All files of an installed package, not only those that ship: which of them the bundle takes depends
 * on our sources, and a pin is to change with the package alone.
 */
export async function npmOrigin(
  packages: string,
  { name, architecture }: Pick<Origin, 'name' | 'architecture'>,
): Promise<Origin> {
  const folder = join(packages, name);
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: NamedBytes[] = [];
  for (const entry of entries) {
    const full = join(entry.parentPath, entry.name);
    const path = relative(folder, full);
    // Packages that npm has put below this one have hashes of their own.
    if (entry.isDirectory() || path.startsWith('node_modules/')) continue;
    files.push({ path, bytes: await readFile(full) });
  }
  return { kind: 'npm', name, version, architecture, sha256: hashOfFiles(files) };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
