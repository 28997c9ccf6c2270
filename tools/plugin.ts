/**
 * `npm run plugin [-- --url ADDRESS]`: the kubectl plugin as one file, dist/kubectl-fairlead, and for krew
 * its archive and its manifest, dist/krew/. The address is where the archive will be found; krew can
 * also take the archive from the disk.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Entry } from './image/entry.ts';
import { explained } from './image/explained.ts';
import { PLUGIN_NAME, pluginManifest } from './image/krew.ts';
import { licenseFiles } from './image/license-files.ts';
import { bundleProgram, PLUGIN_ENTRY } from './image/program.ts';
import { tar } from './image/tar.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { url: { type: 'string' } } });

await explained(makePlugin);

async function makePlugin(): Promise<void> {
  const { bytes, packages, version } = await bundleProgram(root, PLUGIN_ENTRY);
  const folder = join(root, 'dist/krew');
  await mkdir(folder, { recursive: true });
  await writeFile(join(root, 'dist', PLUGIN_NAME), bytes, { mode: 0o755 });
  const program: Entry = { kind: 'file', path: PLUGIN_NAME, bytes, isExecutable: true };
  const licenses = (await licenseFiles(root, packages)).map(
    (file): Entry => ({
      kind: 'file',
      path: file.name === 'fairlead' ? 'LICENSE' : `licenses/${file.name}`,
      bytes: file.bytes,
    }),
  );
  const name = `${PLUGIN_NAME}-v${version}.tar.gz`;
  const archive = await promisify(gzip)(tar([program, ...licenses]));
  await writeFile(join(folder, name), archive);
  const url = values.url ?? `https://release.invalid/${name}`;
  await writeFile(join(folder, 'fairlead.yaml'), pluginManifest({ version, archive, url }));
}
