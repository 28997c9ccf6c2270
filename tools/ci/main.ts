/** `.ci/run`, `.ci/nightly` and `npm run ci -- run|nightly`: every part, with its budget. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ci } from './ci.ts';
import { PARTS } from './parts.ts';
import { measureSlowness } from './slowness.ts';
import { stolenSeconds } from './stolen.ts';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
process.exitCode = await ci(process.argv.slice(2), {
  parts: PARTS,
  root,
  scripts,
  measureSlowness,
  stolenSeconds,
});
