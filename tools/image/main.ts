/**
 * `npm run image -- [--out FILE.tar] [--tag NAME] | --tree FOLDER`: the container image, made without
 * a container engine, or its file system for deploy/Dockerfile. `--architecture arm64` makes it for
 * another machine than this, of packages that npm and apt fetch. `--program FILE` takes a bundle that
 * was made before and is to be tried as an image. `--pin` writes anew what the image may be made of
 * (pins.txt); `--unpinned` tries it with what is here, under a name that no registry has.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { imageArchive } from './archive.ts';
import { buildImage } from './build-image.ts';
import { PROGRAM_PATH, readContents } from './contents.ts';
import { explained } from './explained.ts';
import { ImageError } from './image-error.ts';
import { ingredientsHere, withIngredients } from './ingredients.ts';
import { MACHINES, type Machine, machineOf } from './machine.ts';
import { makePins } from './make-pins.ts';
import { fullImageName } from './name.ts';
import { readOptions } from './options.ts';
import { assertPinned, type PinProblem, pinProblems } from './pins.ts';
import { readPins, writePins } from './pins-file.ts';
import { writeTree } from './tree.ts';

/** A name for which no node asks a registry. */
const UNTOLD = 'localhost/fairlead';
/** Hosts that RFC 6761 keeps out of the public DNS. */
const IN_NO_REGISTRY = /^(?:localhost|[^/]+\.test)\//;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const PATHS = { out: text, tag: text, tree: text, program: text, architecture: text } as const;
const OPTIONS = { ...PATHS, pin: flag, unpinned: flag } as const;
const USAGE = `npm run image -- [--out FILE.tar] [--tag NAME] [--architecture ${MACHINES.map(({ architecture }) => architecture).join('|')}]
  [--program FILE] [--pin] [--unpinned] | --tree FOLDER`;

interface Wishes {
  readonly out: string | undefined;
  readonly tag: string | undefined;
  readonly tree: string | undefined;
  readonly program: string | undefined;
  readonly pin: boolean;
  readonly unpinned: boolean;
  readonly machine: Machine;
}

await explained(async () => await make(readWishes(process.argv.slice(2))));

function readWishes(args: string[]): Wishes {
  const values = readOptions(args, { options: OPTIONS, usage: USAGE });
  if (values.tree !== undefined && (values.out ?? values.tag) !== undefined) {
    const next = 'omit --out and --tag: they are for an archive, not for a folder';
    throw new ImageError('IMAGE_USAGE', '--tree cannot be combined with --out or --tag', next);
  }
  const { out, tag, tree, program, pin, unpinned, architecture } = values;
  if (unpinned && (tree !== undefined || !IN_NO_REGISTRY.test(tag ?? UNTOLD))) {
    const next = 'omit --unpinned, or name the image localhost/NAME:TAG';
    throw new ImageError(
      'IMAGE_USAGE',
      '--unpinned is allowed only for images of localhost/',
      next,
    );
  }
  return { out, tag, tree, program, pin, unpinned, machine: machineFor(architecture) };
}

function machineFor(architecture: string | undefined): Machine {
  if (architecture === undefined) return machineOf(process.arch);
  const found = MACHINES.find((each) => each.architecture === architecture);
  if (found !== undefined) return found;
  const next = `choose ${MACHINES.map((each) => each.architecture).join(' or ')}`;
  throw new ImageError('IMAGE_USAGE', `there is no image for ${architecture}`, next);
}

async function make(wishes: Wishes): Promise<void> {
  const { out, tag, tree, program: given, pin, unpinned, machine } = wishes;
  const root = join(import.meta.dirname, '../..');
  if (pin) await pinAnew(root);
  const pins = await readPins();
  const { runtime, program, version, origins } = await withIngredients(
    root,
    { machine, pins: unpinned ? [] : pins },
    async (ingredients) => await readContents(root, { ...ingredients, program: given }),
  );
  if (unpinned) warnOf(pinProblems(origins, pins));
  else assertPinned(origins, pins);
  if (tree !== undefined) {
    await writeTree(resolve(tree), [...runtime, ...program]);
    return;
  }
  const name = fullImageName(tag ?? `${UNTOLD}:${version}`);
  const image = await buildImage({
    version,
    architecture: machine.architecture,
    entrypoint: [PROGRAM_PATH],
    layers: [runtime, program],
  });
  const path = resolve(out ?? join(root, `dist/fairlead-${version}-${machine.architecture}.tar`));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, imageArchive(image, name));
  for (const [index, { bytes, blob }] of image.layers.entries()) {
    const about = index === 0 ? 'node and iptables' : 'fairlead';
    console.log(`${about.padEnd(20)} ${size(bytes)}, compressed ${size(blob.bytes.length)}`);
  }
  console.log(
    `${image.manifest.digest}\n${path}\n\nsudo ctr -n k8s.io images import ${path}    # as ${name}`,
  );
}

async function pinAnew(root: string): Promise<void> {
  const { origins } = await readContents(root, ingredientsHere(root));
  console.log(`pinned: ${await writePins(await makePins(root, origins))}`);
}

function warnOf(problems: readonly PinProblem[]): void {
  for (const { message } of problems) console.error(`warning: ${message}`);
}

function size(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1).padStart(6)} MB`;
}
