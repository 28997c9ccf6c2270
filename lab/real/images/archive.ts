import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cacheFolder } from '../../host/folders.ts';
import { run } from '../../host/run.ts';
import { architecture, type ImageDescription } from './description.ts';
import { fillRoot } from './root.ts';

const ARCHIVE_DEADLINE_MS = 120_000;
/** The same root gives the same bytes, and with them the same digest. */
const REPRODUCIBLE = ['--sort=name', '--numeric-owner', '--owner=0', '--group=0', '--mtime=@0'];

/**
 * Path of the image as an archive that `ctr images import` takes: one layer, made without any
 * container engine. Cached until its contents change.
 */
export async function provideImage(image: ImageDescription): Promise<string> {
  const folder = join(cacheFolder(), 'images');
  const path = join(folder, `${await keyOf(image)}.tar`);
  if (existsSync(path)) return path;
  await mkdir(folder, { recursive: true });
  const workshop = await mkdtemp(join(folder, 'making-'));
  try {
    const root = join(workshop, 'root');
    await mkdir(root);
    await fillRoot(root, image);
    await rename(await archive(workshop, image), path);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  return path;
}

async function archive(workshop: string, image: ImageDescription): Promise<string> {
  await tar(join(workshop, 'layer.tar'), ['-C', join(workshop, 'root'), '.']);
  const config = JSON.stringify(configuration(image, await digestOf(join(workshop, 'layer.tar'))));
  const configName = `${createHash('sha256').update(config).digest('hex')}.json`;
  const manifest = [{ Config: configName, RepoTags: image.names, Layers: ['layer.tar'] }];
  await writeFile(join(workshop, configName), config);
  await writeFile(join(workshop, 'manifest.json'), JSON.stringify(manifest));
  const whole = join(workshop, 'image.tar');
  await tar(whole, ['-C', workshop, 'manifest.json', configName, 'layer.tar']);
  return whole;
}

function configuration(image: ImageDescription, layerDigest: string): object {
  const created = new Date(0).toISOString();
  return {
    architecture: architecture().image,
    os: 'linux',
    created,
    config: {
      Entrypoint: image.entrypoint,
      Cmd: image.command ?? [],
      WorkingDir: '/',
      Env: ['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layerDigest}`] },
    history: [{ created, created_by: 'fairlead lab' }],
  };
}

async function tar(path: string, what: readonly string[]): Promise<void> {
  await run(['tar', ...REPRODUCIBLE, '-cf', path, ...what], { deadlineMs: ARCHIVE_DEADLINE_MS });
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Changes with the description and with every file it names, by size and time. */
async function keyOf(image: ImageDescription): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(image));
  for (const path of [...(image.programs ?? []), ...Object.values(image.files ?? {})].sort()) {
    const { size, mtimeMs } = await stat(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
