import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { leavingWith, scratchWithout } from './scratch.ts';
import { WINGS, type WingRow } from './table.ts';

export interface Removal {
  readonly names: readonly string[];
  /** What failed without them; empty: they can be taken off. */
  readonly problems: readonly string[];
  readonly tookMs: number;
}

const TIMEOUT_MS = 240_000;

/** Takes wings off in scratch copies, one by one with what stands on them, then all at once. */
export async function* checkRemovals(
  root: string,
  names: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Removal> {
  // Exports that only the test beds use are dead here in any case.
  const usual = new Set(await deadCode(root, [], signal));
  for (const name of names) {
    yield await checkRemoval(root, { wings: leavingWith([name]), usual }, signal);
  }
  if (names.length === WINGS.length) yield await checkRemoval(root, { wings: WINGS }, signal);
}

async function checkRemoval(
  root: string,
  removed: { readonly wings: readonly WingRow[]; readonly usual?: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Removal> {
  const startedAtMs = performance.now();
  const { wings, usual } = removed;
  const checks: readonly [what: string, program: string, ...args: string[]][] = [
    ['types', 'tsc', '--noEmit', '-p', 'tsconfig.src.json'],
    ['layers', process.execPath, 'tools/layers/main.ts'],
  ];
  await using scratch = await scratchWithout(root, wings);
  const outcomes = await Promise.all(
    checks.map(async ([what, program, ...args]) => {
      const command = { program, args, folder: scratch.folder, env: environment(root) };
      return { what, ...(await runCommand({ ...command, timeoutMs: TIMEOUT_MS, signal })) };
    }),
  );
  const failed = outcomes
    .filter(({ ok }) => !ok)
    .map(({ what, output }) => `${what}:\n${output.trimEnd()}`);
  // Without all of them, what several share is unused, and that is no mistake.
  const dead = usual
    ? (await deadCode(root, wings, signal)).filter((line) => !usual.has(line))
    : [];
  return {
    names: wings.map(({ name }) => name),
    problems: dead.length === 0 ? failed : [...failed, `only this wing uses:\n${dead.join('\n')}`],
    tookMs: performance.now() - startedAtMs,
  };
}

/** Lines about files and exports of src that nothing uses, sorted. */
async function deadCode(
  root: string,
  wings: readonly WingRow[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  await using scratch = await scratchWithout(root, wings);
  const { folder } = scratch;
  const path = join(folder, 'knip.json');
  const config = JSON.parse(await readFile(path, 'utf8')) as { entry: string[] };
  const entry = config.entry.filter((pattern) => /^(?:src\/|\{src,)/.test(pattern));
  await writeFile(path, JSON.stringify({ ...config, entry, project: ['src/**/*.ts'] }));
  const args = ['--no-config-hints', '--include', 'files,exports,types,duplicates'];
  const command = { program: 'knip', args, folder, env: environment(root) };
  const { ok, output } = await runCommand({ ...command, timeoutMs: TIMEOUT_MS, signal });
  if (ok) return [];
  const lines = output.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));
  return lines.filter((line) => line.includes('src/')).sort();
}

function environment(root: string): NodeJS.ProcessEnv {
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  return { ...process.env, PATH: path };
}
