import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { basename, join, relative } from 'node:path';
import { type Outcome, runCommand } from '../commands/run.ts';

const COMPILER = 'clang';
const STRIP = 'llvm-strip';
const COMPILE_TIMEOUT_MS = 60_000;

/** Where Debian and its kin keep `asm/types.h`; elsewhere it is found without. */
const MACHINE_HEADERS: Readonly<Record<string, string>> = {
  x64: '/usr/include/x86_64-linux-gnu',
  arm64: '/usr/include/aarch64-linux-gnu',
};

export interface Compilation {
  /** The top of the tree: paths below it are written without it, so that builds are equal. */
  readonly root: string;
  readonly source: string;
  readonly folder: string;
  /** Version of the eBPF instruction set, for clang's -mcpu. */
  readonly cpu: string;
  readonly signal: AbortSignal;
}

/** 32-bit operations: shorter code that is verified sooner. Linux 5.1. */
export const USUAL_CPU = 'v3';

/** A compiler error, or a missing compiler; the message is for the developer. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
}

export interface Compiled {
  readonly path: string;
  /** Nothing had changed since it was made. */
  readonly cached: boolean;
}

/** Compiles one source into an object for the kernel, unless the same text was compiled before. */
export async function compile(what: Compilation): Promise<Compiled> {
  const path = join(what.folder, basename(what.source).replace(/\.c$/, '.o'));
  const sumPath = `${path}.sum`;
  const sum = await sumOf(what);
  if ((await textOf(sumPath)) === sum && (await textOf(path)) !== undefined) {
    return { path, cached: true };
  }
  await mkdir(what.folder, { recursive: true });
  // Beside it first: tests that run at once compile the same file.
  const unfinished = `${path}.${process.pid}`;
  try {
    await run(what, COMPILER, [...flags(what), '-c', sourceOf(what), '-o', unfinished]);
    // Types and line numbers stay; what is for debuggers of user space goes.
    await run(what, STRIP, ['--strip-debug', unfinished]);
    await rename(unfinished, path);
    await writeFile(sumPath, sum);
  } finally {
    await rm(unfinished, { force: true });
  }
  return { path, cached: false };
}

/** As `14.0.6`. */
export async function compilerVersion(root: string, signal: AbortSignal): Promise<string> {
  const about = await run({ root, signal, source: root }, COMPILER, ['--version']);
  return /version (\S+)/.exec(about)?.[1] ?? 'unknown';
}

function flags({ root, cpu }: Compilation): string[] {
  const headers = MACHINE_HEADERS[arch()];
  return [
    '-target',
    'bpf',
    `-mcpu=${cpu}`,
    '-O2',
    '-g',
    '-Wall',
    '-Werror',
    `-ffile-prefix-map=${root}=.`,
    '-fdebug-compilation-dir=.',
    '-Ibpf',
    ...(headers === undefined ? [] : ['-isystem', headers]),
  ];
}

/** Hash of everything that goes into the object: preprocessed source, compiler, flags. */
async function sumOf(what: Compilation): Promise<string> {
  const given = flags(what);
  const text = await run(what, COMPILER, [...given, '-E', sourceOf(what)]);
  const version = await run(what, COMPILER, ['--version']);
  const hash = createHash('sha256').update(
    JSON.stringify(given.filter((flag) => !flag.includes(what.root))),
  );
  return hash.update(version).update(text).digest('hex');
}

function sourceOf({ root, source }: Place): string {
  return relative(root, source);
}

type Place = Pick<Compilation, 'root' | 'source' | 'signal'>;

async function run(what: Place, program: string, args: readonly string[]): Promise<string> {
  const outcome: Outcome = await runCommand({
    program,
    args,
    folder: what.root,
    timeoutMs: COMPILE_TIMEOUT_MS,
    signal: what.signal,
  });
  if (outcome.ok) return outcome.output;
  throw new CompileError(
    `${program} failed on ${sourceOf(what)}; it needs clang, llvm and libbpf-dev:\n${outcome.output}`,
  );
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
