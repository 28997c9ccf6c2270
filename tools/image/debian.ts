import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileEntry } from './entry.ts';
import { ImageError } from './image-error.ts';

const DATABASE = '/var/lib/dpkg';
const DOCUMENTS = '/usr/share/doc';
const COMMON_LICENSE = /\/usr\/share\/common-licenses\/[A-Za-z]+(?:-[0-9]+(?:\.[0-9]+)*)?/g;

/**
 * What goes with files of Debian packages into the image: whose they are and under which licence,
 * each where Debian has it, and the entry of the package in dpkg's database, by which scanners know
 * its version. In the form of images without dpkg: a file for each package.
 */
export async function packageFiles(paths: readonly string[]): Promise<FileEntry[]> {
  const packages = await packagesOf(paths);
  const stanzas = (await text(join(DATABASE, 'status'))).split(/\n\n+/);
  const files = new Map<string, string>();
  for (const name of packages) {
    const copyright = join(DOCUMENTS, name, 'copyright');
    const licence = await text(copyright);
    files.set(copyright, licence);
    for (const [path] of licence.matchAll(COMMON_LICENSE)) files.set(path, await text(path));
    const stanza = stanzas.find((each) => each.startsWith(`Package: ${name}\n`)) ?? '';
    files.set(`${DATABASE}/status.d/${name}`, `${stanza}\n`);
  }
  return [...files].map(([path, content]) => ({
    kind: 'file',
    path: path.slice(1),
    bytes: Buffer.from(content),
  }));
}

/** Names of the packages that the files are of. */
async function packagesOf(paths: readonly string[]): Promise<string[]> {
  const owners = await readOwners();
  const names = paths.map((path) => {
    // One /usr: packages list some files by the path that they had before.
    const other = path.startsWith('/usr/') ? path.slice('/usr'.length) : `/usr${path}`;
    const owner = owners.get(path) ?? owners.get(other);
    if (owner !== undefined) return owner;
    throw new ImageError(
      'IMAGE_PACKAGE_UNKNOWN',
      `${path} is of no Debian package, so nobody can say under which licence it is`,
      'make the image on Debian 12, or with deploy/Dockerfile',
    );
  });
  return [...new Set(names)].sort();
}

async function readOwners(): Promise<Map<string, string>> {
  const folder = join(DATABASE, 'info');
  const lists = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.list'));
  const owners = new Map<string, string>();
  for (const list of lists) {
    const [name = ''] = basename(list, '.list').split(':');
    for (const path of (await text(join(folder, list))).split('\n')) owners.set(path, name);
  }
  return owners;
}

async function text(path: string): Promise<string> {
  return await readFile(path, 'utf8');
}
