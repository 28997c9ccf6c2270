/** `npm run check [-- part ...]`: everything that can be said about the code without running it. */
import { delimiter, join } from 'node:path';
import { type Outcome, runCommand } from './commands/run.ts';

interface Check {
  readonly name: string;
  readonly about: string;
  readonly argv: readonly [string, ...string[]];
}

const CHECKS: readonly Check[] = [
  { name: 'types', about: 'types', argv: ['tsc', '--noEmit'] },
  {
    name: 'page-types',
    about: 'types of the page',
    argv: ['tsc', '--noEmit', '-p', 'src/wings/view/page'],
  },
  {
    name: 'lint',
    about: 'lint and format',
    argv: ['biome', 'ci', '--colors=off', '--error-on-warnings', '.'],
  },
  { name: 'layers', about: 'layers', argv: ['node', 'tools/layers/main.ts'] },
  { name: 'wall-clock', about: 'wall clock', argv: ['node', 'tools/wall-clock/main.ts'] },
  {
    name: 'texts',
    about: 'texts for users',
    argv: ['node', 'tools/error-texts/main.ts', '--check'],
  },
  { name: 'mode-names', about: 'names of modes', argv: ['node', 'tools/mode-names/main.ts'] },
  { name: 'weight', about: 'weight', argv: ['node', 'tools/ratchet/main.ts'] },
  { name: 'file-maps', about: 'file maps, names', argv: ['node', 'tools/file-maps/main.ts'] },
  { name: 'chart', about: 'files of the chart', argv: ['node', 'tools/chart/main.ts', '--check'] },
  { name: 'locks', about: 'lock files', argv: ['node', 'tools/locks/main.ts'] },
  {
    name: 'release-texts',
    about: 'version, installs',
    argv: ['node', 'tools/release-texts/main.ts'],
  },
  { name: 'links', about: 'links', argv: ['node', 'tools/links/main.ts'] },
  { name: 'dead', about: 'dead code', argv: ['knip'] },
  { name: 'core', about: 'without any wing', argv: ['node', 'tools/wings/main.ts', 'all'] },
];

/** Minutes each, so only for who asks by name; CI does by night. */
const LONG_CHECKS: readonly Check[] = [
  { name: 'wings', about: 'each wing taken off', argv: ['node', 'tools/wings/main.ts'] },
  { name: 'quotas', about: 'each quota taken away', argv: ['node', 'tools/quotas/main.ts'] },
];

const TIMEOUT_MS = 120_000;
const LONG_TIMEOUT_MS = 900_000;
const EXIT_USAGE = 2;
const root = join(import.meta.dirname, '..');

const names = process.argv.slice(2);
const all = [...CHECKS, ...LONG_CHECKS];
const unknown = names.filter((name) => !all.some((check) => check.name === name));
if (unknown.length > 0) listChecks(unknown);
else if (names.length === 0) await runChecks(CHECKS);
else await runChecks(all.filter(({ name }) => names.includes(name)));

async function runChecks(checks: readonly Check[]): Promise<void> {
  // The programs of the packages, and the Node among them, as an npm script would find them.
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const env = { ...process.env, PATH: path };
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const outcomes = await Promise.all(
    checks.map(async ({ name, about, argv: [program, ...args] }) => {
      const isLong = LONG_CHECKS.some((check) => check.name === name);
      const timeoutMs = isLong ? LONG_TIMEOUT_MS : TIMEOUT_MS;
      const limits = { timeoutMs, signal: stop.signal };
      const outcome = await runCommand({ program, args, folder: root, env, ...limits });
      console.log(line(about, outcome));
      return { name, ...outcome };
    }),
  );
  // Who asks for single checks also wants to read what they print when they pass.
  const shown = outcomes.filter(({ ok }) => !ok || names.length > 0);
  for (const { name, output, ok } of shown) {
    const text = `\n===== npm run check -- ${name} =====\n${output.trimEnd()}`;
    if (ok) console.log(text);
    else console.error(text);
  }
  const failedCount = outcomes.filter(({ ok }) => !ok).length;
  if (failedCount === 0) return;
  console.error(`\n${failedCount} of ${checks.length} checks failed.`);
  process.exitCode = 1;
}

function listChecks(unknownNames: readonly string[]): void {
  const isHelp = unknownNames.every((name) => name === '--help' || name === '-h');
  if (!isHelp) console.error(`check: no check '${unknownNames.join("', '")}'\n`);
  console.log('Usage: npm run check -- [CHECK ...]; without a name, all but wings and quotas:\n');
  for (const { name, about } of all) console.log(`  ${name.padEnd(13)}  ${about}`);
  if (!isHelp) process.exitCode = EXIT_USAGE;
}

function line(about: string, { ok, tookMs }: Outcome): string {
  const seconds = (tookMs / 1000).toFixed(1).padStart(5);
  return `${ok ? 'ok    ' : 'FAILED'}  ${about.padEnd(18)} ${seconds} s`;
}
