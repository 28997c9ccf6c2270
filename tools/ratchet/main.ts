/**
 * `npm run check -- weight`: lines of the core, lines and files of src, words of the docs. With `--write`,
 * the table of docs/wings.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BOUNDS } from './bounds.ts';
import { PAGE, stale, withTable } from './page.ts';
import { complaints, weigh } from './weigh.ts';

const root = join(import.meta.dirname, '../..');
const { weighed, byPart } = await weigh(root);

for (const [part, { files, lines }] of [...byPart].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${part.padEnd(12)} ${number(files)} files ${number(lines)} lines`);
}
for (const [what, bound] of Object.entries(BOUNDS)) {
  const now = weighed[what as keyof typeof BOUNDS];
  console.log(`${what.padEnd(12)} ${number(now)} of ${number(bound)}`);
}
const wrong = complaints(weighed, BOUNDS);
for (const line of wrong) console.error(`tools/ratchet/bounds.ts: ${line}`);
const page = join(root, PAGE);
if (process.argv.includes('--write')) {
  await writeFile(page, withTable(await readFile(page, 'utf8'), byPart));
}
const old = stale(await readFile(page, 'utf8'), byPart);
for (const line of old) console.error(`${PAGE}: ${line}`);
if (wrong.length + old.length > 0) process.exitCode = 1;

function number(value: number): string {
  return value.toLocaleString('en-US').padStart(8);
}
