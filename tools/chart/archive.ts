import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Entry } from '../image/entry.ts';
import { tar } from '../image/tar.ts';
import { CHART } from './files.ts';

export interface ChartArchive {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The chart as Helm installs it and a registry stores it. The bytes follow from the files alone. */
export async function packageChart(root: string): Promise<ChartArchive> {
  const folder = join(root, CHART);
  const found = await Array.fromAsync(glob('**/*', { cwd: folder, withFileTypes: true }));
  const paths = found.filter((entry) => entry.isFile()).map((it) => join(it.parentPath, it.name));
  const entries: Entry[] = [];
  for (const path of [...paths, join(root, 'LICENSE')].sort()) {
    const name = path.startsWith(folder) ? path.slice(folder.length + 1) : 'LICENSE';
    // Helm looks for the files below a folder with the name of the chart.
    entries.push({ kind: 'file', path: `fairlead/${name}`, bytes: await readFile(path) });
  }
  const version = versionOf(await readFile(join(folder, 'Chart.yaml'), 'utf8'));
  return { name: `fairlead-${version}.tgz`, bytes: await promisify(gzip)(tar(entries)) };
}

function versionOf(chart: string): string {
  const version = /^version: (\S+)$/m.exec(chart)?.[1];
  if (version === undefined) throw new Error(`${CHART}/Chart.yaml has no version`);
  return version;
}
