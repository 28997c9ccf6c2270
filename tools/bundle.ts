/**
 * `npm run bundle`: the program in one file that Node runs as it is, dist/fairlead.mjs, with the
 * forwarder of mode userspace and the page of `fairlead view` beside it. Another entry and another file may be given, as for measuring a
 * part of it in the form it is shipped in.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { bundleProgram, FORWARDER_ENTRY, FORWARDER_PROGRAM, MAIN_ENTRY } from './image/program.ts';
import { VIEW_FOLDER, viewPage } from './view-page.ts';

const root = join(import.meta.dirname, '..');
const [entry = MAIN_ENTRY, outfile = 'dist/fairlead.mjs'] = process.argv.slice(2);

const path = resolve(root, outfile);
await mkdir(dirname(path), { recursive: true });
const { bytes: program } = await bundleProgram(root, entry);
await writeFile(path, program, { mode: 0o755 });
if (entry === MAIN_ENTRY) {
  const { bytes: forwarder } = await bundleProgram(root, FORWARDER_ENTRY);
  await writeFile(join(dirname(path), FORWARDER_PROGRAM), forwarder);
  const folder = join(dirname(path), VIEW_FOLDER);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const { name, bytes } of await viewPage(root)) await writeFile(join(folder, name), bytes);
}
