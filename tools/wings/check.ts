import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { leavingWith, scratchWithout } from './scratch.ts';
import { WINGS } from './table.ts';

export interface Removal {
  readonly names: readonly string[];
  /** What failed without them; empty: they can be taken off. */
  readonly problems: readonly string[];
  readonly tookMs: number;
}

const TIMEOUT_MS = 240_000;
const AT_ONCE = 2;

/** Takes wings off in scratch copies, one after the other with what stands on it; calls back after each. */
export async function checkEach(
  root: string,
  names: readonly string[],
  how: { readonly signal: AbortSignal; readonly onChecked: (removal: Removal) => void },
): Promise<void> {
  const { signal, onChecked } = how;
  // Exports that only the test beds use are dead here in any case.
  const usual = usualDeadCode(root, signal);
  const queue = names.values();
  const worker = async (): Promise<void> => {
    for (const name of queue) onChecked(await checkOne(root, name, { usual, signal }));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Takes all of them off. What several share is unused then, and that is no mistake. */
export async function checkCore(root: string, signal: AbortSignal): Promise<Removal> {
  const startedAtMs = performance.now();
  await using scratch = await scratchWithout(root, WINGS);
  const tools = { root, signal };
  const problems = await Promise.all(
    [TYPES, LAYERS].map((check) => problemsBy(check, scratch.folder, tools)),
  );
  return { names: ['all'], problems: problems.flat(), tookMs: performance.now() - startedAtMs };
}

async function usualDeadCode(root: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  await using scratch = await scratchWithout(root, []);
  return new Set(await deadCode(scratch.folder, { root, signal }));
}

async function checkOne(
  root: string,
  name: string,
  how: { readonly usual: Promise<ReadonlySet<string>>; readonly signal: AbortSignal },
): Promise<Removal> {
  const startedAtMs = performance.now();
  const wings = leavingWith([name]);
  await using scratch = await scratchWithout(root, wings);
  const tools = { root, signal: how.signal };
  const [failed, dead] = await Promise.all([
    problemsBy(TYPES, scratch.folder, tools),
    deadCode(scratch.folder, tools),
  ]);
  const usual = await how.usual;
  const more = dead.filter((line) => !usual.has(line));
  return {
    names: wings.map((wing) => wing.name),
    problems: more.length === 0 ? failed : [...failed, `only this wing uses:\n${more.join('\n')}`],
    tookMs: performance.now() - startedAtMs,
  };
}

interface Tools {
  /** The checkout, whose packages are used. */
  readonly root: string;
  readonly signal: AbortSignal;
}

interface Check {
  readonly what: string;
  readonly argv: readonly [string, ...string[]];
}

export const TYPES: Check = {
  what: 'types',
  argv: ['tsc', '--noEmit', '-p', 'tsconfig.src.json'],
};
export const LAYERS: Check = {
  what: 'layers',
  argv: [process.execPath, 'tools/layers/main.ts'],
};

/** What a check says about a copy; empty: it passes. */
export async function problemsBy(
  { what, argv: [program, ...args] }: Check,
  folder: string,
  { root, signal }: Tools,
): Promise<readonly string[]> {
  const command = { program, args, folder, env: environment(root) };
  const { ok, output } = await runCommand({ ...command, timeoutMs: TIMEOUT_MS, signal });
  return ok ? [] : [`${what}:\n${output.trimEnd()}`];
}

/** Lines about files and exports of src that nothing uses, sorted. */
async function deadCode(folder: string, { root, signal }: Tools): Promise<readonly string[]> {
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
