import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { LabError } from '../host/errors.ts';
import { cacheFolder } from '../host/folders.ts';
import type { Progress } from '../host/progress.ts';
import { run } from '../host/run.ts';
import { findSource, type KernelSource } from './source.ts';

const BUILD_DEADLINE_MS = 45 * 60_000;
const NICENESS = '19';
const CONFIG = join(import.meta.dirname, 'uml.config');
/** Raised when the steps below change what they make. */
const RECIPE = 1;
/** Compiled by no build for User-mode Linux; their Kconfig files are read. */
const UNUSED_SOURCES = [
  '*/drivers/gpu/*.[ch]',
  '*/drivers/media/*.[ch]',
  '*/drivers/net/ethernet/*.[ch]',
  '*/drivers/net/wireless/*.[ch]',
  '*/sound/*.[ch]',
  '*/Documentation/*.rst',
  '*/tools/testing/*',
];
/**
 * Kernels before 6.13 have 2,696 bytes for the vector registers of a process. A processor with AMX has
 * 11,008 and rejects fewer when they are set, so that the first process of the guest is killed.
 */
const REGISTERS = {
  file: 'arch/x86/um/user-offsets.c',
  from: 'DEFINE_LONGS(HOST_FP_SIZE, 2696)',
  to: 'DEFINE_LONGS(HOST_FP_SIZE, 16384)',
};

export interface KernelBuildContext {
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** Path of the User-mode Linux in the cache; built first if the cache has none of this configuration. */
export async function provideKernel(context: KernelBuildContext): Promise<string> {
  const source = await findSource();
  const config = await readFile(CONFIG, 'utf8');
  const key = createHash('sha256').update(`${RECIPE} ${source.version}\n${config}`).digest('hex');
  const path = join(cacheFolder(), 'kernels', `uml-${key.slice(0, 12)}`, 'linux');
  if (existsSync(path)) return path;
  const title = `build Linux ${source.version} as a program (10 minutes, the first time)`;
  await context.progress.step(title, (detail) =>
    build(path, { source, config, detail, signal: context.signal }),
  );
  return path;
}

interface Build {
  readonly source: KernelSource;
  readonly config: string;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function build(path: string, of: Build): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'fairlead-kernel-'));
  try {
    const tree = await unpack(work, of);
    await patchRegisters(tree);
    const make = await configure(tree, { work, of });
    await make(`-j${availableParallelism()}`, 'linux');
    const unfinished = `${path}.building-${process.pid}`;
    await mkdir(dirname(path), { recursive: true });
    await run(['strip', '-o', unfinished, join(work, 'out/linux')]);
    await rename(unfinished, path);
  } catch (error) {
    of.signal?.throwIfAborted();
    throw new LabError('LAB_BUILD_FAILED', `cannot build the kernel: ${error}`, {
      next: 'check that the packages listed in docs/lab.md are installed and 3 GB are free in /tmp',
      cause: error,
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Gives the folder of the unpacked source. */
async function unpack(work: string, { source, detail, signal }: Build): Promise<string> {
  detail('unpack');
  const excluded = UNUSED_SOURCES.map((pattern) => `--exclude=${pattern}`);
  await run(['nice', '-n', NICENESS, 'tar', '-C', work, '-xf', source.archive, ...excluded], {
    deadlineMs: BUILD_DEADLINE_MS,
    signal,
  });
  const [folder] = await readdir(work);
  if (folder === undefined) throw new Error(`${source.archive} is empty`);
  return join(work, folder);
}

async function patchRegisters(tree: string): Promise<void> {
  const file = join(tree, REGISTERS.file);
  const text = await readFile(file, 'utf8');
  if (!text.includes(REGISTERS.from)) throw new Error(`${REGISTERS.file} is not as expected`);
  await writeFile(file, text.replace(REGISTERS.from, REGISTERS.to));
}

type Make = (...targets: string[]) => Promise<void>;

/** Gives `make` for a tree that is configured and has every option that was asked for. */
async function configure(tree: string, { work, of }: { work: string; of: Build }): Promise<Make> {
  const out = join(work, 'out');
  const common = { signal: of.signal, deadlineMs: BUILD_DEADLINE_MS, onStdout: of.detail };
  // Each line of a Makefile is a shell. Bash takes a socket as its input, which Node gives it, for a
  // remote login, and would read the user's start file every time; not so below the second level.
  const env = { ARCH: 'um', SUBARCH: 'x86_64', SHLVL: '2' };
  const make: Make = async (...targets) => {
    await run(['nice', '-n', NICENESS, 'make', '-C', tree, `O=${out}`, ...targets], {
      env,
      ...common,
    });
  };
  await make('defconfig');
  const fragment = join(work, 'fragment');
  await writeFile(fragment, of.config);
  const merge = join(tree, 'scripts/kconfig/merge_config.sh');
  await run([merge, '-m', '-O', out, join(out, '.config'), fragment], { env, ...common });
  await make('olddefconfig');
  const taken = new Set((await readFile(join(out, '.config'), 'utf8')).split('\n'));
  const asked = of.config.split('\n').filter((line) => /^CONFIG_\w+=(?!n$)/.test(line));
  const ignored = asked.filter((line) => !taken.has(line));
  if (ignored.length > 0) throw new Error(`options without effect: ${ignored.join(' ')}`);
  return make;
}
