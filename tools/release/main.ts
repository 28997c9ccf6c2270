/**
 * `npm run release [-- --twice] [--out FOLDER] [--image NAME] [--url ADDRESS] [--kubectl FILE]`: everything
 * that a release consists of, in dist/release: docs/release.md. `--twice` makes it again in another
 * process and fails if a byte differs.
 */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { explained } from '../image/explained.ts';
import { withAllIngredients } from '../image/ingredients.ts';
import { MACHINES } from '../image/machine.ts';
import { readOptions } from '../image/options.ts';
import { readPins } from '../image/pins-file.ts';
import { versionOf } from '../image/program.ts';
import { makeAgain } from './again.ts';
import type { Artifact } from './artifact.ts';
import { commitTimeSeconds, uncommittedFiles } from './commit.ts';
import { makeRelease } from './make.ts';

const root = join(import.meta.dirname, '../..');
const text = { type: 'string' } as const;
const twice = { type: 'boolean', default: false } as const;
const OPTIONS = { out: text, image: text, url: text, kubectl: text, twice } as const;
const USAGE =
  'npm run release [-- --twice] [--out FOLDER] [--image NAME] [--url ADDRESS] [--kubectl FILE]';

await explained(async () => await release(process.argv.slice(2)));

async function release(args: string[]): Promise<void> {
  const values = readOptions(args, { options: OPTIONS, usage: USAGE });
  const version = await versionOf(root);
  const changed = await uncommittedFiles(root);
  if (changed.length > 0) {
    console.error(
      `warning: ${changed.length} files differ from the commit: not a release to publish`,
    );
  }
  const pins = await readPins();
  const createdAtSeconds = await commitTimeSeconds(root, process.env);
  const fetched = step('packages for every machine');
  const artifacts = await withAllIngredients(
    root,
    { machines: MACHINES, pins },
    async (machines) => {
      fetched();
      return await makeRelease(root, {
        version,
        machines,
        pins,
        image: values.image ?? 'localhost/fairlead',
        url: values.url ?? `https://release.invalid/v${version}`,
        kubectl: values.kubectl ?? 'kubectl',
        createdAtSeconds,
        step: timed,
      });
    },
  );
  const folder = resolve(values.out ?? join(root, 'dist/release'));
  await writeArtifacts(folder, artifacts);
  const sums = String(artifacts.at(-1)?.bytes);
  if (values.twice) {
    const again = args.filter((arg) => arg !== '--twice');
    const made = { args: again, sums, createdAtSeconds };
    await timed('all of it again', async () => await makeAgain(root, made));
  }
  report(folder, artifacts);
  if (values.twice) console.log('made twice: the same bytes');
}

async function writeArtifacts(folder: string, artifacts: readonly Artifact[]): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { name, bytes, isExecutable } of artifacts) {
    const path = join(folder, name);
    await writeFile(path, bytes);
    await chmod(path, isExecutable ? 0o755 : 0o644);
  }
}

function report(folder: string, artifacts: readonly Artifact[]): void {
  console.log(`${artifacts.length} files in ${relative('', folder) || '.'}`);
  for (const { name, bytes } of artifacts) {
    console.log(`${(bytes.length / 1e6).toFixed(2).padStart(8)} MB  ${name}`);
  }
}

async function timed<T>(about: string, work: () => Promise<T>): Promise<T> {
  const finish = step(about);
  const result = await work();
  finish();
  return result;
}

/** Tells that something begins; the function that it gives tells how long it took. */
function step(about: string): () => void {
  const startedAt = performance.now();
  console.error(`… ${about}`);
  return () => {
    console.error(`✓ ${about}  ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  };
}
