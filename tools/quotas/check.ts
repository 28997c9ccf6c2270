import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../commands/run.ts';
import { type NamedTest, rowsOf, testOf } from '../security/rows.ts';
import { scratchWithout } from '../wings/scratch.ts';
import { type PlantedQuota, withoutQuota } from './quota.ts';

export interface Taken {
  readonly quota: PlantedQuota;
  /** Undefined: its test failed without the quota, as it must. */
  readonly problem: string | undefined;
  readonly tookMs: number;
}

const TIMEOUT_MS = 180_000;
/** Of a test, and not of its file. */
const RESULT = /^ *(?:not )?ok \d+ - (?!.*# SKIP)/;

/** In a scratch copy takes quotas away, one after the other, and runs the test of each with and without. */
export async function* takeQuotas(
  root: string,
  quotas: readonly PlantedQuota[],
  signal: AbortSignal,
): AsyncGenerator<Taken> {
  const rows = rowsOf(await readFile(join(root, 'docs/limits.md'), 'utf8'));
  await using scratch = await scratchWithout(root, []);
  const run = new TestRun(scratch.folder, signal);
  await ownPrograms(root, scratch.folder);
  for (const quota of quotas) {
    const startedAtMs = performance.now();
    const row = rows.find(({ what }) => what === quota.bound);
    const test = quota.test ?? (row && testOf(row));
    const problem = test
      ? await problemOf(run, quota, test)
      : 'docs/limits.md names no test for it';
    yield { quota, problem, tookMs: performance.now() - startedAtMs };
  }
}

async function problemOf(
  run: TestRun,
  quota: PlantedQuota,
  test: NamedTest,
): Promise<string | undefined> {
  const whole = await run.result(test);
  if (whole.state !== 'ok') return `its test does not pass with the quota:\n${whole.output}`;
  const path = join(run.folder, quota.file);
  const text = await readFile(path, 'utf8');
  const planted = withoutQuota(text, quota);
  if (planted === undefined) return `${quota.file} does not have exactly once: ${quota.replace}`;
  await writeFile(path, planted);
  try {
    if (quota.file.startsWith('bpf/')) await run.compile();
    const { state, output } = await run.result(test);
    if (state === 'not ok') return undefined;
    return state === 'ok' ? 'NOT NOTICED' : `its test does not run without the quota:\n${output}`;
  } finally {
    await writeFile(path, text);
  }
}

/** Compiled anew without a quota, they must not replace those of the checkout. */
async function ownPrograms(root: string, folder: string): Promise<void> {
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  await cp(join(root, 'dist/bpf'), join(folder, 'dist/bpf'), { recursive: true });
}

interface Result {
  /** Undefined: it did not run, as in a file with a syntax error. */
  readonly state: 'ok' | 'not ok' | undefined;
  readonly output: string;
}

class TestRun {
  readonly folder: string;
  readonly #signal: AbortSignal;

  constructor(folder: string, signal: AbortSignal) {
    this.folder = folder;
    this.#signal = signal;
  }

  async compile(): Promise<void> {
    const command = { program: process.execPath, args: ['tools/bpf.ts'], folder: this.folder };
    await runCommand({ ...command, timeoutMs: TIMEOUT_MS, signal: this.#signal });
  }

  async result({ path, words }: NamedTest): Promise<Result> {
    const pattern = words.replaceAll(/[^\w ]/g, '\\$&');
    const args = [
      '--test',
      '--test-force-exit',
      '--test-reporter=tap',
      `--test-name-pattern=${pattern}`,
      path,
    ];
    const command = { program: process.execPath, args, folder: this.folder };
    const { output } = await runCommand({
      ...command,
      timeoutMs: TIMEOUT_MS,
      signal: this.#signal,
    });
    const lines = output.split('\n').filter((line) => RESULT.test(line) && line.includes(words));
    if (lines.length === 0) return { state: undefined, output };
    return { state: lines.some((line) => line.includes('not ok')) ? 'not ok' : 'ok', output };
  }
}
