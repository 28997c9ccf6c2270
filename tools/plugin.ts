/**
 * `npm run plugin [-- --url ADDRESS]`: the kubectl plugin as one file, dist/kubectl-fairlead, and for krew
 * its archive and its manifest, dist/krew/. The address is where the archive will be found; krew can
 * also take the archive from the disk.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { explained } from './image/explained.ts';
import { PLUGIN_NAME } from './image/krew.ts';
import { buildPlugin } from './image/plugin.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { url: { type: 'string' } } });

await explained(async () => {
  const { program, archiveName, archive, manifest } = await buildPlugin(
    root,
    (name) => values.url ?? `https://release.invalid/${name}`,
  );
  const folder = join(root, 'dist/krew');
  await mkdir(folder, { recursive: true });
  await writeFile(join(root, 'dist', PLUGIN_NAME), program, { mode: 0o755 });
  await writeFile(join(folder, archiveName), archive);
  await writeFile(join(folder, 'fairlead.yaml'), manifest);
});
