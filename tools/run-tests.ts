/**
 * `npm test [-- part-of-a-path ...]`: every test that can run here, and a word about the rest.
 * With `--kernel uml` they run in another kernel: see docs/lab.md. `--core-alone` runs the tests of the
 * core in a copy without wings, `--but-core` all others.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { planTests } from './testing/plan.ts';
import { codeFiles } from './tree/code-files.ts';
import { scratchWithout } from './wings/scratch.ts';
import { WINGS } from './wings/table.ts';

/** There so that nothing hangs. A first run at a desk may build a control plane; in CI that is done before. */
const TEST_TIMEOUT_MS = (process.env['CI'] === undefined ? 20 : 6) * 60_000;

/** Tests that need root may each run a control plane of their own. */
const MOST_AT_ONCE = 4;

const root = join(import.meta.dirname, '..');
const { flags, args } = readArguments(process.argv.slice(2));
const kernelAt = args.indexOf('--kernel');
const files = await codeFiles(root);
const { run, skipped } = planTests(files, {
  isRoot: process.getuid?.() === 0,
  only: args,
  part: flags.has('--core') ? 'core' : flags.has('--but-core') ? 'others' : undefined,
  needingWings: flags.has('--but-core') ? needingWings(files) : new Set(),
});

if (flags.has('--core-alone')) {
  process.exitCode = await runCoreAlone(args);
} else if (kernelAt !== -1) {
  process.exitCode = await runInKernel(args.toSpliced(kernelAt, 2), args[kernelAt + 1]);
} else if (run.length === 0) {
  console.error('No test files to run: a test run that tests nothing must not pass.');
  process.exitCode = 1;
} else {
  process.exitCode = await runTests(run);
}

if (kernelAt === -1 && !flags.has('--core-alone') && skipped.length > 0) {
  console.error(
    `\n!!!!! SKIPPED ${skipped.length} test files: they need root and network namespaces, ` +
      `and this is not root. Run them with: sudo npm test\n${skipped.map((file) => `!!!!!   ${file}\n`).join('')}`,
  );
}

function readArguments(given: readonly string[]) {
  const isFlag = (arg: string): boolean => ['--core', '--core-alone', '--but-core'].includes(arg);
  return { flags: new Set(given.filter(isFlag)), args: given.filter((arg) => !isFlag(arg)) };
}

function needingWings(all: readonly string[]): ReadonlySet<string> {
  const tests = all.filter((file) => file.startsWith('src/') && file.endsWith('.test.ts'));
  return new Set(
    tests.filter((file) => readFileSync(join(root, file), 'utf8').includes('NEEDS_WINGS')),
  );
}

/** What is left when every wing is off must work alone. */
async function runCoreAlone(only: readonly string[]): Promise<number> {
  await using scratch = await scratchWithout(root, WINGS);
  return await runNode(['tools/run-tests.ts', '--core', ...only], scratch.folder);
}

async function runInKernel(only: readonly string[], name: string | undefined): Promise<number> {
  if (name !== 'uml') throw new Error(`no kernel '${name ?? ''}': the only one is uml`);
  const command = ['lab/main.ts', 'kernel', 'run', '--', process.execPath, 'tools/run-tests.ts'];
  return await runNode([...command, ...only]);
}

async function runTests(files: readonly string[]): Promise<number> {
  return await runNode([
    '--test',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'testing/slowest-files.ts')}`,
    '--test-reporter-destination=stdout',
    `--test-concurrency=${Math.min(MOST_AT_ONCE, availableParallelism())}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...files,
  ]);
}

async function runNode(args: readonly string[], folder = root): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'inherit' });
  // Stay until the tests have tidied up. A terminal sends SIGINT to the child by itself.
  process.on('SIGINT', () => console.error('Interrupted: waiting for the tests to end.'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', reject);
  child.on('close', (code) => resolve(code ?? 1));
  return await promise;
}
