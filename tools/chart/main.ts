/**
 * `npm run chart`: writes the files of the Helm chart that are made of others, and the archive
 * dist/chart/fairlead-VERSION.tgz; `--archive` writes only that. `--check` writes nothing, and fails if a
 * file is not up to date.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '../commands/run.ts';
import { packageChart } from './archive.ts';
import { generatedFiles } from './files.ts';
import type { ConfigSchema } from './values.ts';

const SCHEMA_TIMEOUT_MS = 60_000;
const root = join(import.meta.dirname, '../..');
const flag = { type: 'boolean', default: false } as const;
const { values: options } = parseArgs({ options: { check: flag, archive: flag } });

if (options.archive) await writeArchive();
else if (options.check) await check(await readGenerated());
else await write(await readGenerated());

async function readGenerated(): Promise<ReadonlyMap<string, string>> {
  return await generatedFiles(root, await readConfigSchema());
}

async function readConfigSchema(): Promise<ConfigSchema> {
  const { ok, output } = await runCommand({
    program: process.execPath,
    args: ['src/main.ts', 'config', '--schema'],
    folder: root,
    timeoutMs: SCHEMA_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (!ok) throw new Error(`fairlead config --schema failed: ${output}`);
  return JSON.parse(output) as ConfigSchema;
}

async function check(files: ReadonlyMap<string, string>): Promise<void> {
  const stale: string[] = [];
  for (const [path, text] of files) {
    if ((await readFile(join(root, path), 'utf8')) !== text) stale.push(path);
  }
  if (stale.length === 0) {
    console.log(`${files.size} files of the chart are as their sources say.`);
    return;
  }
  for (const path of stale) {
    console.error(
      `${path}\n  problem  not as its sources say\n  remedy   npm run chart, and commit it\n`,
    );
  }
  process.exitCode = 1;
}

async function write(files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) await writeFile(join(root, path), text);
  await writeArchive();
}

async function writeArchive(): Promise<void> {
  const { name, bytes } = await packageChart(root);
  const folder = join(root, 'dist/chart');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), bytes);
  console.log(`dist/chart/${name}`);
}
