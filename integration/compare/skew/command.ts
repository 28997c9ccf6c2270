import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { API_VERSIONS, type ApiVersion } from '../../../lab/parts/api-version.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { faultsText, versionsMarkdown, versionsTable } from './report.ts';
import { runVersion, type VersionResult } from './run-version.ts';

interface Options {
  readonly api: readonly ApiVersion[];
  readonly proxy: string;
  readonly json?: string;
  readonly docs?: string;
}

export const command = new Command()
  .option('--api <versions>', `some of ${API_VERSIONS.join(', ')}`, versions, [...API_VERSIONS])
  .option('--proxy <name>', 'the variant of Fairlead', 'fairlead-nftables')
  .option('--json <file>', 'write the results as JSON')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .action(main);

async function main({ api, proxy, json, docs }: Options): Promise<void> {
  findProxy(proxy);
  const results: VersionResult[] = [];
  const context = { proxy, progress: terminalProgress(), signal: interruption() };
  for (const version of api) results.push(await runVersion({ version, ...context }));
  console.log(versionsTable(results));
  if (json) await writeFile(json, `${JSON.stringify(results, null, 2)}\n`);
  if (docs) await updateDocument(docs, 'skew', versionsMarkdown(results));
  const faults = faultsText(results);
  if (faults !== '') console.error(faults);
  process.exitCode = faults === '' ? 0 : 1;
}

function versions(text: string): ApiVersion[] {
  return text.split(',').map((each) => {
    const version = API_VERSIONS.find((known) => known === each);
    if (version === undefined)
      throw new InvalidArgumentError(`'${each}' is not one of ${API_VERSIONS.join(', ')}`);
    return version;
  });
}
