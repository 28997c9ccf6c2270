import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LabError } from '../host/errors.ts';
import { cacheFolder } from '../host/folders.ts';
import type { Progress } from '../host/progress.ts';
import { type RunOptions, run } from '../host/run.ts';
import { compileProgress } from './compile-progress.ts';

const BUILD_DEADLINE_MS = 45 * 60_000;

export interface GoProgram {
  readonly name: string;
  /** Folder beside this file with the go.mod that pins it. */
  readonly module: string;
  readonly importPath: string;
  readonly linkerFlags: string;
  /** Files of the module whose content decides whether a built program is still the right one. */
  readonly sources: readonly string[];
  /** The program is the package's tests. */
  readonly isTest?: boolean;
}

export interface GoBuildContext {
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** Path of the program in the cache; built first if the cache has none for these sources. */
export async function provideProgram(program: GoProgram, context: GoBuildContext): Promise<string> {
  const path = await cachedPath(program);
  if (existsSync(path)) return path;
  await context.progress.step(`build ${program.name} (once)`, (detail) =>
    build(program, path, { detail, signal: context.signal }),
  );
  return path;
}

/** One folder for each state of the sources, so that a new version never meets an old program. */
async function cachedPath(program: GoProgram): Promise<string> {
  const hash = createHash('sha256');
  for (const source of program.sources) {
    hash.update(await readFile(join(import.meta.dirname, program.module, source)));
  }
  const key = hash.digest('hex').slice(0, 12);
  return join(cacheFolder(), 'parts', `${program.module}-${key}`, program.name);
}

interface BuildContext {
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function build(program: GoProgram, path: string, context: BuildContext): Promise<void> {
  const { detail, signal } = context;
  const place = placeOf(program);
  const unfinished = `${path}.building-${process.pid}`;
  const verb = program.isTest ? ['test', '-c', '-vet=off'] : ['build'];
  const flags = ['-v', '-trimpath', '-ldflags', program.linkerFlags];
  await mkdir(dirname(path), { recursive: true });
  try {
    detail('reading its sources');
    const total = await countStale(program, signal);
    const go: [string, ...string[]] = ['nice', '-n', '19', 'go', ...verb, ...flags];
    await run([...go, '-o', unfinished, program.importPath], {
      ...place,
      onStderr: compileProgress({ total, detail, now: () => performance.now() }),
      signal,
    });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    signal?.throwIfAborted();
    throw new LabError('LAB_BUILD_FAILED', `cannot build ${program.name}: ${error}`, {
      next: 'install Go 1.26, or any Go from 1.21 that may fetch it (go env GOTOOLCHAIN: auto), and check that the Go module proxy is reachable (go env GOPROXY)',
      cause: error,
    });
  }
}

/** How many packages the build has to compile: those that are not in Go's cache. */
async function countStale(program: GoProgram, signal: AbortSignal | undefined): Promise<number> {
  const list = ['go', 'list', '-deps', '-trimpath', '-f', '{{if .Stale}}stale{{end}}'] as const;
  const more = program.isTest ? ['-test'] : [];
  const argv = [...list, ...more, program.importPath] as const;
  const stale = await run([...argv], { ...placeOf(program), signal });
  return stale.split('\n').filter((line) => line === 'stale').length;
}

function placeOf(program: GoProgram): RunOptions {
  return {
    cwd: join(import.meta.dirname, program.module),
    // Static programs: nothing but Go is needed to build them, and they run on any root.
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
    deadlineMs: BUILD_DEADLINE_MS,
  };
}
