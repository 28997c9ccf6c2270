import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { assertKernelHas } from '../../../lab/host/kernel-parts.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { netemMarkdown, netemVerdict } from './report.ts';
import { type NetemResult, runNetem } from './run-netem.ts';

interface Options {
  readonly proxy: string;
  readonly rounds: number;
  readonly delayMs: number;
  readonly loss: number;
  readonly json?: string;
  readonly docs?: string;
}

export const command = new Command()
  .option('--proxy <names>', 'one or several proxies', 'fairlead-nftables')
  .option('--rounds <count>', 'pods to replace', Number, 5)
  .option('--delay-ms <count>', 'of each packet that leaves a node', Number, 50)
  .option('--loss <percent>', 'of the packets that leave a node', Number, 5)
  .option('--json <file>', 'write the results as JSON')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .action(main);

async function main(options: Options): Promise<void> {
  const variants = options.proxy.split(',').map(findProxy);
  for (const { name, kernelParts = [] } of variants) assertKernelHas(kernelParts, name);
  const results: NetemResult[] = [];
  const { rounds, delayMs, loss: lossPercent } = options;
  const common = { rounds, delayMs, lossPercent, progress: terminalProgress() };
  const signal = interruption();
  for (const variant of variants) results.push(await runNetem({ variant, ...common, signal }));
  console.log(netemMarkdown(results));
  if (options.json) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
  if (options.docs) await updateDocument(options.docs, 'netem', netemMarkdown(results));
  const faults = results.flatMap(netemVerdict);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
