/**
 * `npm run check -- wings`, or `node tools/wings/main.ts [NAME ...]`: each wing can be taken off. With
 * `all`, as in `npm run check -- core`: what remains without any stands on its own.
 */
import { join } from 'node:path';
import { checkCore, checkEach, type Removal } from './check.ts';
import { WINGS } from './table.ts';

const EXIT_USAGE = 2;
const ALL = 'all';
const root = join(import.meta.dirname, '../..');
const known = WINGS.map(({ name }) => name);
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => name !== ALL && !known.includes(name));

if (unknown.length > 0) {
  const all = [...known, ALL].join(', ');
  console.error(`wings: no wing '${unknown.join("', '")}'; there are ${all}`);
  process.exitCode = EXIT_USAGE;
} else await check(asked);

async function check(names: readonly string[]): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const each = names.length === 0 ? known : names.filter((name) => name !== ALL);
  if (each.length > 0) await checkEach(root, each, { signal: stop.signal, onChecked: print });
  if (names.includes(ALL)) print(await checkCore(root, stop.signal));
}

function print({ problems, names, tookMs }: Removal): void {
  const verdict = problems.length === 0 ? 'ok    ' : 'FAILED';
  const seconds = (tookMs / 1000).toFixed(1).padStart(6);
  console.log(`${verdict}  without ${names.join(', ').padEnd(12)} ${seconds} s`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
