import { createHash } from 'node:crypto';
import type { Contents } from '../../image/contents.ts';
import type { FileEntry, PackageKey } from '../../image/entry.ts';
import type { PackageFacts } from './facts.ts';
import {
  type Relationship,
  type RelationshipType,
  type SpdxDocument,
  type SpdxFile,
  type SpdxPackage,
  spdxId,
  UNKNOWN,
} from './spdx.ts';

export interface ImageFacts {
  readonly contents: Pick<Contents, 'version' | 'runtime' | 'program' | 'bundled'>;
  readonly packages: readonly PackageFacts[];
  readonly architecture: string;
  /** Of the image for this machine, `sha256:…`. */
  readonly digest: string;
  readonly createdAtSeconds: number;
}

const OWN_LICENSE = 'Apache-2.0';
const OWN = 'fairlead';
const IMAGE = 'SPDXRef-Image';
/** It makes the bundle, and is not in the image. */
const BUNDLER = /^npm (?:esbuild|@esbuild\/.*)$/;
const DYNAMIC = /koffi/;

interface Listed {
  readonly sha1: string;
  readonly file: SpdxFile;
}

/** Every file of the image, with its package, licence and hashes; made of the entries that are packed. */
export function spdxDocument(image: ImageFacts): SpdxDocument {
  const { version } = image.contents;
  const hash = image.digest.replace('sha256:', '');
  const name = `fairlead-${version}-linux-${image.architecture}`;
  const filesByPackage = groupFiles(image);
  const packages = [
    imagePackage(image),
    ownPackage(image, filesByPackage.get(OWN) ?? []),
    ...image.packages.map((facts) => otherPackage(facts, filesByPackage.get(facts.key) ?? [])),
  ];
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${hash}`,
    creationInfo: {
      created: new Date(image.createdAtSeconds * 1000).toISOString().replace('.000Z', 'Z'),
      creators: [`Tool: fairlead-release-${version}`],
    },
    packages,
    files: [...filesByPackage.values()]
      .flat()
      .map(({ file }) => file)
      .sort((a, b) => (a.fileName < b.fileName ? -1 : 1)),
    relationships: relationships(image, filesByPackage),
  };
}

function groupFiles({ contents, packages }: ImageFacts): Map<PackageKey | typeof OWN, Listed[]> {
  const licenses = new Map(packages.map(({ key, license }) => [key, license]));
  const groups = new Map<PackageKey | typeof OWN, Listed[]>();
  for (const entry of [...contents.runtime, ...contents.program]) {
    if (entry.kind !== 'file') continue;
    const key = entry.from ?? OWN;
    const license = entry.license ?? (key === OWN ? OWN_LICENSE : licenses.get(key));
    // A file of a package that no pin names would be listed nowhere.
    if (license === undefined) throw new Error(`${entry.path} is of ${key}, which has no origin`);
    groups.set(key, [...(groups.get(key) ?? []), listed(entry, license)]);
  }
  return groups;
}

function listed({ path, bytes }: FileEntry, license: string): Listed {
  const sha1 = createHash('sha1').update(bytes).digest('hex');
  const file: SpdxFile = {
    SPDXID: spdxId('File', path),
    fileName: `./${path}`,
    checksums: [
      { algorithm: 'SHA1', checksumValue: sha1 },
      {
        algorithm: 'SHA256',
        checksumValue: createHash('sha256').update(bytes).digest('hex'),
      },
    ],
    licenseConcluded: license,
    licenseInfoInFiles: [UNKNOWN],
    copyrightText: UNKNOWN,
  };
  return { sha1, file };
}

function imagePackage({ contents, architecture, digest }: ImageFacts): SpdxPackage {
  const purl = `pkg:oci/fairlead@${encodeURIComponent(digest)}?arch=${architecture}&tag=${contents.version}`;
  return {
    SPDXID: IMAGE,
    name: `fairlead image for linux/${architecture}`,
    versionInfo: contents.version,
    supplier: UNKNOWN,
    downloadLocation: UNKNOWN,
    filesAnalyzed: false,
    checksums: [{ algorithm: 'SHA256', checksumValue: digest.replace('sha256:', '') }],
    licenseConcluded: UNKNOWN,
    licenseDeclared: UNKNOWN,
    copyrightText: UNKNOWN,
    comment: 'The checksum is that of the image manifest',
    primaryPackagePurpose: 'CONTAINER',
    externalRefs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
    ],
  };
}

function ownPackage({ contents }: ImageFacts, files: readonly Listed[]): SpdxPackage {
  return {
    SPDXID: spdxId('Package', OWN),
    name: OWN,
    versionInfo: contents.version,
    supplier: UNKNOWN,
    downloadLocation: UNKNOWN,
    ...analyzed(files),
    licenseConcluded: OWN_LICENSE,
    licenseDeclared: OWN_LICENSE,
    copyrightText: UNKNOWN,
    primaryPackagePurpose: 'APPLICATION',
  };
}

function otherPackage(facts: PackageFacts, files: readonly Listed[]): SpdxPackage {
  const { key, name, version, license, supplier, licenseComments, downloadSha512, refs } = facts;
  return {
    SPDXID: spdxId('Package', key),
    name,
    versionInfo: version,
    supplier,
    downloadLocation: UNKNOWN,
    ...analyzed(files),
    ...(downloadSha512 === undefined
      ? {}
      : { checksums: [{ algorithm: 'SHA512', checksumValue: downloadSha512 } as const] }),
    licenseConcluded: license,
    licenseDeclared: license,
    ...(licenseComments === undefined ? {} : { licenseComments }),
    copyrightText: UNKNOWN,
    comment: BUNDLER.test(key)
      ? 'Makes the bundle; not in the image'
      : 'Of its files the image has those that are listed',
    externalRefs: refs,
  };
}

/** The code is defined in section 7.9 of the specification: over the SHA-1 of all files, sorted. */
function analyzed(
  files: readonly Listed[],
): Pick<SpdxPackage, 'filesAnalyzed' | 'packageVerificationCode' | 'licenseInfoFromFiles'> {
  if (files.length === 0) return { filesAnalyzed: false };
  const sums = files.map(({ sha1 }) => sha1).sort();
  const value = createHash('sha1').update(sums.join('')).digest('hex');
  return {
    filesAnalyzed: true,
    packageVerificationCode: { packageVerificationCodeValue: value },
    licenseInfoFromFiles: [UNKNOWN],
  };
}

function relationships(
  { contents, packages }: ImageFacts,
  filesByPackage: ReadonlyMap<PackageKey | typeof OWN, readonly Listed[]>,
): Relationship[] {
  const own = spdxId('Package', OWN);
  const found: Relationship[] = [
    relation('SPDXRef-DOCUMENT', 'DESCRIBES', IMAGE),
    relation(IMAGE, 'CONTAINS', own),
  ];
  const bundled = new Set(contents.bundled.map((name): PackageKey => `npm ${name}`));
  for (const { key } of packages) {
    const id = spdxId('Package', key);
    if (BUNDLER.test(key)) found.push(relation(id, 'BUILD_TOOL_OF', own));
    else found.push(relation(IMAGE, 'CONTAINS', id));
    if (bundled.has(key)) found.push(relation(own, 'STATIC_LINK', id));
    else if (DYNAMIC.test(key)) found.push(relation(own, 'DYNAMIC_LINK', id));
  }
  for (const [key, files] of filesByPackage) {
    const id = spdxId('Package', key);
    for (const { file } of files) found.push(relation(id, 'CONTAINS', file.SPDXID));
  }
  return found;
}

function relation(from: string, type: RelationshipType, to: string): Relationship {
  return { spdxElementId: from, relationshipType: type, relatedSpdxElement: to };
}
