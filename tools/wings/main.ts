/** `npm run check -- wings`, or `node tools/wings/main.ts [NAME ...]`: each wing can be taken off. */
import { join } from 'node:path';
import { checkRemovals } from './check.ts';
import { WINGS } from './table.ts';

const EXIT_USAGE = 2;
const root = join(import.meta.dirname, '../..');
const known = WINGS.map(({ name }) => name);
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`wings: no wing '${unknown.join("', '")}'; there are ${known.join(', ')}`);
  process.exitCode = EXIT_USAGE;
} else await checkAll(asked.length > 0 ? asked : known);

async function checkAll(names: readonly string[]): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let failedCount = 0;
  for await (const { problems, names: gone, tookMs } of checkRemovals(root, names, stop.signal)) {
    const what = gone.length === known.length ? 'all of them' : gone.join(', ');
    const verdict = problems.length === 0 ? 'ok    ' : 'FAILED';
    const seconds = (tookMs / 1000).toFixed(1).padStart(6);
    console.log(`${verdict}  without ${what.padEnd(12)} ${seconds} s`);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) failedCount++;
  }
  if (failedCount > 0) process.exitCode = 1;
}
