import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FileEntry } from '../image/entry.ts';
import { type PackagesOf, writePackage } from '../image/npm-package.ts';
import { tar } from '../image/tar.ts';

/** npm unpacks what is below this folder. */
const TOP = 'package';
const EXECUTABLE = /^#!/;

/** The npm package as `npm install FILE` takes it. Not by `npm pack`, whose bytes change with npm. */
export async function npmTarball(root: string, from: readonly PackagesOf[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-package-'));
  try {
    await writePackage(root, { folder, from });
    return await promisify(gzip)(tar(await entriesOf(folder)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function entriesOf(folder: string): Promise<FileEntry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return await Promise.all(
    found
      .filter((entry) => entry.isFile())
      .map(async (entry): Promise<FileEntry> => {
        const path = join(entry.parentPath, entry.name);
        const bytes = await readFile(path);
        // Modes on the disk depend on the umask.
        const isExecutable = EXECUTABLE.test(bytes.toString('latin1', 0, 2));
        return { kind: 'file', path: join(TOP, relative(folder, path)), bytes, isExecutable };
      }),
  );
}
