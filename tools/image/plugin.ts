import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Entry } from './entry.ts';
import { PLUGIN_NAME, pluginManifest } from './krew.ts';
import { licenseFiles } from './license-files.ts';
import { bundleProgram, PLUGIN_ENTRY } from './program.ts';
import { tar } from './tar.ts';

export interface Plugin {
  /** The plugin of kubectl as one file. */
  readonly program: Uint8Array;
  readonly archiveName: string;
  /** What krew unpacks. */
  readonly archive: Buffer;
  /** What krew reads, as YAML. */
  readonly manifest: string;
}

/** The plugin of kubectl; `address` gives where an archive of this name will be found. */
export async function buildPlugin(
  root: string,
  address: (archiveName: string) => string,
): Promise<Plugin> {
  const { bytes, packages, version } = await bundleProgram(root, PLUGIN_ENTRY);
  const program: Entry = { kind: 'file', path: PLUGIN_NAME, bytes, isExecutable: true };
  const licenses = (await licenseFiles(root, packages)).map(
    (file): Entry => ({
      kind: 'file',
      path: file.name === 'fairlead' ? 'LICENSE' : `licenses/${file.name}`,
      bytes: file.bytes,
    }),
  );
  const archiveName = `${PLUGIN_NAME}-v${version}.tar.gz`;
  const archive = await promisify(gzip)(tar([program, ...licenses]));
  const manifest = pluginManifest({ version, archive, url: address(archiveName) });
  return { program: bytes, archiveName, archive, manifest };
}
