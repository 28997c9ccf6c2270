/**
 * `npm run image -- [--out FILE.tar] [--tag NAME] | --tree FOLDER`: the container image, made without
 * a container engine, or its file system for deploy/Dockerfile. `--program FILE` takes a bundle that
 * was made before and is to be tried as an image.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CompileError } from '../bpf/compile.ts';
import { imageArchive } from './archive.ts';
import { PROGRAM_PATH, readContents } from './contents.ts';
import { ImageError } from './image-error.ts';
import { machineOf } from './machine.ts';
import { fullImageName } from './name.ts';
import { writeTree } from './tree.ts';

interface Wishes {
  readonly out: string | undefined;
  readonly tag: string | undefined;
  readonly tree: string | undefined;
  readonly program: string | undefined;
}

try {
  await make(readWishes(process.argv.slice(2)));
} catch (error) {
  process.exitCode = 1;
  if (error instanceof CompileError) console.error(error.message);
  else if (error instanceof ImageError) explain(error);
  else throw error;
}

function explain({ message, next, code }: ImageError): void {
  console.error(`${message}\n\n${next} (${code})`);
  if (code === 'IMAGE_USAGE') process.exitCode = 2;
}

function readWishes(args: string[]): Wishes {
  const text = { type: 'string' } as const;
  const options = { out: text, tag: text, tree: text, program: text };
  const { values } = parseArgs({ args, options });
  if (values.tree !== undefined && (values.out ?? values.tag) !== undefined) {
    const next = 'a folder has no name and no file: leave --out and --tag away';
    throw new ImageError('IMAGE_USAGE', '--tree stands alone', next);
  }
  return { out: values.out, tag: values.tag, tree: values.tree, program: values.program };
}

async function make({ out, tag, tree, program: given }: Wishes): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  const machine = machineOf(process.arch);
  const { runtime, program, version } = await readContents(root, { machine, program: given });
  if (tree !== undefined) {
    await writeTree(resolve(tree), [...runtime, ...program]);
    return;
  }
  const name = fullImageName(tag ?? `localhost/fairlead:${version}`);
  const { bytes, layers } = await imageArchive({
    name,
    version,
    architecture: machine.architecture,
    entrypoint: [PROGRAM_PATH],
    layers: [runtime, program],
  });
  const path = resolve(out ?? join(root, `dist/fairlead-${version}-${machine.architecture}.tar`));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  for (const [index, layer] of layers.entries()) {
    const about = index === 0 ? 'node and iptables' : 'fairlead';
    console.log(
      `${about.padEnd(20)} ${size(layer.bytes)}, compressed ${size(layer.compressedBytes)}`,
    );
  }
  console.log(`${path}\n\nsudo ctr -n k8s.io images import ${path}    # as ${name}`);
}

function size(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1).padStart(6)} MB`;
}
