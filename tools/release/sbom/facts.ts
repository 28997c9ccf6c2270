import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackageKey } from '../../image/entry.ts';
import { ImageError } from '../../image/image-error.ts';
import type { Machine } from '../../image/machine.ts';
import type { Origin } from '../../image/origin.ts';
import { debianLicense } from './debian-licenses.ts';
import type { ExternalRef } from './spdx.ts';

/** What the document says of a package that is not ours. */
export interface PackageFacts {
  readonly key: PackageKey;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly supplier: string;
  /** SHA-512 of what npm downloads, in hexadecimal. */
  readonly downloadSha512?: string;
  readonly licenseComments?: string;
  readonly refs: readonly ExternalRef[];
}

/** Where facts about packages are: the checkout, and the packages for the machine of the image. */
export interface FactSources {
  readonly root: string;
  readonly packages: string;
  readonly machine: Machine;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

export async function factsOf(
  origins: readonly Origin[],
  { root, packages, machine }: FactSources,
): Promise<PackageFacts[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  return await Promise.all(
    origins.flatMap((origin) => {
      if (origin.kind === 'bpf') return [];
      if (origin.kind === 'debian') return [Promise.resolve(debianFacts(origin))];
      const isOfMachine = [machine.nodePackage, machine.koffiPackage].includes(origin.name);
      const folder = isOfMachine ? packages : join(root, 'node_modules');
      return [npmFacts(origin, { folder, lock })];
    }),
  );
}

function debianFacts({ name, version, architecture }: Origin): PackageFacts {
  const purl = `pkg:deb/debian/${encode(name)}@${encode(version)}?arch=${architecture}&distro=debian-12`;
  return {
    key: `debian ${name}`,
    name,
    version,
    license: debianLicense(name),
    supplier: 'Organization: Debian',
    licenseComments: `Terms and notices of all its parts: /usr/share/doc/${name}/copyright in the image`,
    refs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  };
}

async function npmFacts(
  { name, version }: Origin,
  { folder, lock }: { folder: string; lock: Lock },
): Promise<PackageFacts> {
  const text = await readFile(join(folder, name, 'package.json'), 'utf8');
  const { license } = JSON.parse(text) as { license?: unknown };
  if (typeof license !== 'string') {
    throw new ImageError(
      'RELEASE_LICENSE_UNKNOWN',
      `package.json of ${name} has no licence`,
      'read its files, and tell its author',
    );
  }
  const sha512 = sha512Of(lock.packages[`node_modules/${name}`]?.integrity);
  const purl = `pkg:npm/${encode(name)}@${version}`;
  return {
    key: `npm ${name}`,
    name,
    version,
    license,
    supplier: 'NOASSERTION',
    ...(sha512 === undefined ? {} : { downloadSha512: sha512 }),
    refs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
      ...nodeRefs(name, version),
    ],
  };
}

/** By this name advisories call Node; the npm package only carries its release. */
function nodeRefs(name: string, version: string): ExternalRef[] {
  if (!name.startsWith('node-linux-')) return [];
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  return [{ referenceCategory: 'SECURITY', referenceType: 'cpe23Type', referenceLocator: cpe }];
}

function sha512Of(integrity: string | undefined): string | undefined {
  const encoded = integrity?.match(/^sha512-(\S+)$/)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('hex');
}

/** As purls want it: the slash of a scope stays. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%2F', '/');
}
