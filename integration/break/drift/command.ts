import { Command, Option } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { measureDrift } from './drift.ts';
import { driftMarkdown, driftTable } from './report.ts';

const BACKENDS = ['nft', 'legacy'] as const;
type BackendName = (typeof BACKENDS)[number];

interface Options {
  readonly docs?: string;
  readonly backend: BackendName | 'both';
  readonly services: number;
  readonly endpoints: number;
}

export const command = new Command()
  .option('--docs <file>', 'write the table into a document, between its marks')
  .addOption(new Option('--backend <name>').choices([...BACKENDS, 'both']).default('both'))
  .option('--services <count>', 'number of Services', Number, 5_000)
  .option('--endpoints <count>', 'endpoints of each', Number, 5)
  .action(measure);

async function measure(options: Options): Promise<void> {
  const of = { progress: terminalProgress(), signal: interruption() };
  const load = { services: options.services, endpointsPerService: options.endpoints };
  const all = [];
  for (const backend of options.backend === 'both' ? BACKENDS : [options.backend]) {
    all.push({ backend, figures: await measureDrift(backend, load, of) });
  }
  console.log(driftTable(all));
  if (options.docs !== undefined) {
    await updateDocument(options.docs, 'iptables-drift', driftMarkdown(all));
  }
  const isLeft = all.some(({ figures }) => figures.some(({ left }) => left.length > 0));
  if (isLeft) process.exitCode = 1;
}
