/** `npm run check`: everything that can be said about the code without running it. */
import { join } from 'node:path';
import { type Outcome, runCommand } from './commands/run.ts';

/** The commands themselves are in package.json, so that each can be run alone. */
const PARTS = [
  { script: 'check:types', about: 'types' },
  { script: 'check:lint', about: 'lint and format' },
  { script: 'check:layers', about: 'layers' },
  { script: 'check:wall-clock', about: 'wall clock' },
  { script: 'check:texts', about: 'texts for users' },
  { script: 'check:locks', about: 'lock files' },
  { script: 'check:dead', about: 'dead code' },
] as const;

const PART_TIMEOUT_MS = 120_000;
const root = join(import.meta.dirname, '..');

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

const outcomes = await Promise.all(
  PARTS.map(async ({ script, about }) => {
    const outcome = await runCommand({
      program: 'npm',
      args: ['run', '--silent', script],
      folder: root,
      timeoutMs: PART_TIMEOUT_MS,
      signal: stop.signal,
    });
    console.log(line(about, outcome));
    return { script, ...outcome };
  }),
);

const failed = outcomes.filter(({ ok }) => !ok);
for (const { script, output } of failed) {
  console.error(`\n===== npm run ${script} =====\n${output.trimEnd()}`);
}
if (failed.length > 0) {
  console.error(`\n${failed.length} of ${PARTS.length} parts failed.`);
  process.exitCode = 1;
}

function line(about: string, { ok, tookMs }: Outcome): string {
  const seconds = (tookMs / 1000).toFixed(1).padStart(5);
  return `${ok ? 'ok    ' : 'FAILED'}  ${about.padEnd(16)} ${seconds} s`;
}
