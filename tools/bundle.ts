/**
 * `npm run bundle`: the program in one file that Node runs as it is, dist/fairlead.mjs. Another
 * entry and another file may be given, as for measuring a part of it in the form it is shipped in.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { bundleProgram } from './image/program.ts';

const root = join(import.meta.dirname, '..');
const [entry = 'src/main.ts', outfile = 'dist/fairlead.mjs'] = process.argv.slice(2);

const { bytes } = await bundleProgram(root, entry);
const path = resolve(root, outfile);
await mkdir(dirname(path), { recursive: true });
await writeFile(path, bytes, { mode: 0o755 });
