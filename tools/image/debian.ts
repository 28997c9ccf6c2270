import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileEntry, PackageKey } from './entry.ts';
import { ImageError } from './image-error.ts';
import type { Ingredients } from './ingredients.ts';
import { hashOfFiles, type NamedBytes, type Origin } from './origin.ts';

const DATABASE = '/var/lib/dpkg';
const DOCUMENTS = '/usr/share/doc';
const FIELDS = [
  'Package',
  'Status',
  'Priority',
  'Section',
  'Installed-Size',
  'Maintainer',
  'Architecture',
  'Multi-Arch',
  'Source',
  'Version',
  'Description',
  'Homepage',
];
const COMMON_LICENSE = /\/usr\/share\/common-licenses\/[A-Za-z]+(?:-[0-9]+(?:\.[0-9]+)*)?/g;

/** Files of Debian's that ship, and where they are from. */
export interface DebianFiles {
  /** What goes with the files that were given. */
  readonly files: readonly FileEntry[];
  /** The package of each file that was given, by its path. */
  readonly packageOf: ReadonlyMap<string, PackageKey>;
  /** The origins of all of them. */
  readonly origins: readonly Origin[];
}

/**
 * What goes with files of Debian packages into the image: whose they are and under which licence,
 * each where Debian has it, and the entry of the package in dpkg's database, by which scanners know
 * its version. In the form of images without dpkg: a file for each package.
 */
export async function packageFiles(
  shipped: readonly NamedBytes[],
  { machine, debian }: Pick<Ingredients, 'machine' | 'debian'>,
): Promise<DebianFiles> {
  const { architecture } = machine;
  const owners = await readOwners(debian);
  const stanzas = (await text(join(debian, DATABASE, 'status'))).split(/\n\n+/);
  const filesByPackage = new Map<string, NamedBytes[]>();
  const packageOf = new Map<string, PackageKey>();
  for (const file of shipped) {
    const owner = ownerOf(file.path, owners);
    packageOf.set(file.path, `debian ${owner}`);
    add(owner, file);
  }
  const papers = new Map<string, FileEntry>();
  for (const name of [...filesByPackage.keys()].sort()) {
    const copyright = join(DOCUMENTS, name, 'copyright');
    const licence = await text(join(debian, copyright));
    addPaper(name, copyright, licence);
    addPaper(name, `${DATABASE}/status.d/${name}`, shippedStanza(stanzaOf(name, stanzas)));
    for (const [path] of licence.matchAll(COMMON_LICENSE)) {
      if (!papers.has(path)) addPaper(ownerOf(path, owners), path, await text(join(debian, path)));
    }
  }
  return {
    files: [...papers.values()],
    packageOf,
    origins: [...filesByPackage].map(([name, files]): Origin => {
      const version = /^Version: (.*)$/m.exec(stanzaOf(name, stanzas))?.[1] ?? 'unknown';
      return { kind: 'debian', name, version, architecture, sha256: hashOfFiles(files) };
    }),
  };

  function addPaper(owner: string, path: string, content: string): void {
    const bytes = Buffer.from(content);
    papers.set(path, { kind: 'file', path: path.slice(1), bytes, from: `debian ${owner}` });
    add(owner, { path, bytes });
  }

  function add(owner: string, file: NamedBytes): void {
    const files = filesByPackage.get(owner) ?? [];
    filesByPackage.set(owner, [...files, file]);
  }
}

function stanzaOf(name: string, stanzas: readonly string[]): string {
  return stanzas.find((each) => each.startsWith(`Package: ${name}\n`)) ?? '';
}

/**
 * What scanners read, in one order. Relations to other packages are left out: they are not in the image,
 * and dpkg writes them in another way than the package has them.
 */
function shippedStanza(stanza: string): string {
  const lines = FIELDS.flatMap(
    (field) => new RegExp(`^${field}: .*$`, 'm').exec(stanza)?.[0] ?? [],
  );
  return `${lines.join('\n')}\n`;
}

/** The name of the package that a file is of. */
function ownerOf(path: string, owners: ReadonlyMap<string, string>): string {
  // One /usr: packages list some files by the path that they had before.
  const other = path.startsWith('/usr/') ? path.slice('/usr'.length) : `/usr${path}`;
  const owner = owners.get(path) ?? owners.get(other);
  if (owner !== undefined) return owner;
  throw new ImageError(
    'IMAGE_PACKAGE_UNKNOWN',
    `${path} belongs to no Debian package, so its licence is unknown`,
    'make the image on Debian 12, or with deploy/Dockerfile',
  );
}

async function readOwners(debian: string): Promise<Map<string, string>> {
  const folder = join(debian, DATABASE, 'info');
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
