import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { silentProgress, terminalProgress } from '../../../lab/host/progress.ts';
import { runCampaign } from './campaign.ts';
import { NO_SABOTAGE, PLANTED_FAULTS } from './planted.ts';
import { failureText, resultMarkdown, resultTable } from './report.ts';

interface Options {
  readonly objects: number;
  readonly seed: number;
  readonly planted: boolean;
  readonly docs?: string;
}

export const command = new Command()
  .option('--objects <count>', 'number of objects', Number, 100_000)
  .option('--seed <number>', 'the same seed gives the same objects', Number, Date.now() & 0xffff)
  .option('--planted', 'plant faults and check that each is found', false)
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .action(async (options: Options) => {
    if (options.planted) await findPlanted(options);
    else await fuzz(options);
  });

async function fuzz({ objects, seed, docs }: Options): Promise<void> {
  const progress = terminalProgress();
  const result = await runCampaign({ objects, seed, sabotage: NO_SABOTAGE, progress });
  console.log(resultTable(result));
  console.log(`to reproduce: --objects ${objects} --seed ${seed}`);
  if (result.failure !== undefined) {
    console.log(failureText(result.failure));
    process.exitCode = 1;
  } else if (docs !== undefined) {
    await updateDocument(docs, 'fuzz', resultMarkdown(result));
  }
}

async function findPlanted({ objects, seed }: Options): Promise<void> {
  for (const { name, sabotage, showsAs } of PLANTED_FAULTS) {
    const options = { objects, seed, sabotage: sabotage(), progress: silentProgress };
    const { failure, tally } = await runCampaign(options);
    const isFound = failure?.error instanceof showsAs;
    if (!isFound) process.exitCode = 1;
    console.log(`${isFound ? `found within ${tally.given} objects` : 'NOT FOUND'}: ${name}`);
    if (failure?.error instanceof Error) console.log(`  ${failure.error.message}`);
  }
}
