/**
 * `npm run bundle`: the program in one file that Node runs as it is, dist/fairlead.mjs, with the
 * forwarder of mode userspace beside it. Another entry and another file may be given, as for measuring a
 * part of it in the form it is shipped in.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { bundleProgram, FORWARDER_ENTRY, FORWARDER_PROGRAM, MAIN_ENTRY } from './image/program.ts';

const root = join(import.meta.dirname, '..');
const [entry = MAIN_ENTRY, outfile = 'dist/fairlead.mjs'] = process.argv.slice(2);

const path = resolve(root, outfile);
await mkdir(dirname(path), { recursive: true });
const { bytes } = await bundleProgram(root, entry);
await writeFile(path, bytes, { mode: 0o755 });
if (entry === MAIN_ENTRY) {
  const { bytes: forwarder } = await bundleProgram(root, FORWARDER_ENTRY);
  await writeFile(join(dirname(path), FORWARDER_PROGRAM), forwarder);
}
