/** `.ci/run`, `.ci/nightly` and `npm run ci -- run|nightly`: every part, with its budget. */
import { join } from 'node:path';
import { ci } from './ci.ts';
import { PARTS } from './parts.ts';
import { measureSlowness } from './slowness.ts';

const root = join(import.meta.dirname, '../..');
process.exitCode = await ci(process.argv.slice(2), { parts: PARTS, root, measureSlowness });
