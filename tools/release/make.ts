import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageChart } from '../chart/archive.ts';
import { indexArchive } from '../image/archive.ts';
import { type BuiltImage, buildImage } from '../image/build-image.ts';
import { PROGRAM_PATH, readContents } from '../image/contents.ts';
import type { Ingredients } from '../image/ingredients.ts';
import { PLUGIN_NAME } from '../image/krew.ts';
import type { Origin } from '../image/origin.ts';
import { assertPinned } from '../image/pins.ts';
import { buildPlugin } from '../image/plugin.ts';
import type { Artifact } from './artifact.ts';
import { renderManifests } from './manifests.ts';
import { releaseNotes } from './notes.ts';
import { npmTarball } from './npm-tarball.ts';
import { spdxDocument } from './sbom/document.ts';
import { factsOf } from './sbom/facts.ts';
import { sumsOf } from './sums.ts';

export interface Release {
  readonly version: string;
  /** What the images and the package are for. */
  readonly machines: readonly Ingredients[];
  readonly pins: readonly Origin[];
  /** Registry and repository of the image, without a tag. */
  readonly image: string;
  /** Where the files of the release will be found. */
  readonly url: string;
  readonly kubectl: string;
  /** The date in documents that must have one. */
  readonly createdAtSeconds: number;
  /** Runs a step and tells how long it took. */
  readonly step: <T>(about: string, work: () => Promise<T>) => Promise<T>;
}

/** Every file of the release, the last of them the sums of the others. */
export async function makeRelease(root: string, release: Release): Promise<Artifact[]> {
  const { version, step } = release;
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  const artifacts: Artifact[] = [
    text('CHANGES.md', releaseNotes(changelog, version)),
    ...(await imageFiles(root, release)),
    {
      name: `fairlead-${version}.tgz`,
      bytes: await step('npm package', () => npmTarball(root, release.machines)),
    },
    { name: `fairlead-chart-${version}.tgz`, bytes: (await packageChart(root)).bytes },
    ...(await step('kubectl plugin', () => pluginFiles(root, release.url))),
    text(
      `fairlead-${version}.yaml`,
      await step('manifests', () =>
        renderManifests(root, { name: release.image, tag: version, kubectl: release.kubectl }),
      ),
    ),
  ];
  return [...artifacts, sumsOf(artifacts)];
}

async function imageFiles(root: string, release: Release): Promise<Artifact[]> {
  const { version, image, machines, step } = release;
  const images: BuiltImage[] = [];
  const documents: Artifact[] = [];
  for (const each of machines) {
    const about = `image for linux/${each.machine.architecture}`;
    const made = await step(about, () => imageFor(root, { ...each, release }));
    images.push(made.image);
    documents.push(made.document);
  }
  const { bytes, digest } = indexArchive(images, `${image}:${version}`);
  const name = `fairlead-${version}-image`;
  return [{ name: `${name}.tar`, bytes }, text(`${name}.digest`, `${digest}\n`), ...documents];
}

/** An image, and the document that says what is in it. */
async function imageFor(
  root: string,
  { release, ...ingredients }: Ingredients & { release: Release },
): Promise<{ image: BuiltImage; document: Artifact }> {
  const { machine, packages } = ingredients;
  const contents = await readContents(root, ingredients);
  assertPinned(contents.origins, release.pins);
  const { version, runtime, program, origins } = contents;
  const { architecture } = machine;
  const image = await buildImage({
    version,
    architecture,
    entrypoint: [PROGRAM_PATH],
    layers: [runtime, program],
  });
  const document = spdxDocument({
    contents,
    packages: await factsOf(origins, { root, packages, machine }),
    architecture,
    digest: image.manifest.digest,
    createdAtSeconds: release.createdAtSeconds,
  });
  const name = `${document.name}.spdx.json`;
  return { image, document: text(name, `${JSON.stringify(document, null, 1)}\n`) };
}

async function pluginFiles(root: string, url: string): Promise<Artifact[]> {
  const plugin = await buildPlugin(root, (name) => `${url}/${name}`);
  return [
    { name: PLUGIN_NAME, bytes: plugin.program, isExecutable: true },
    { name: plugin.archiveName, bytes: plugin.archive },
    text('fairlead-krew.yaml', plugin.manifest),
  ];
}

function text(name: string, content: string): Artifact {
  return { name, bytes: Buffer.from(content) };
}
