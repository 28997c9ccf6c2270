import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { assertKernelHas, kernelHas } from '../../../lab/host/kernel-parts.ts';
import { type Progress, terminalProgress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { type ChangeResult, changeProxy, faultsOf } from './change.ts';
import { answerLoad } from './load-process.ts';
import { bundle, ownerOf } from './owners.ts';
import { changesMarkdown, changesTable, evidenceOf } from './report.ts';
import { wipeRules } from './rules.ts';
import { SEQUENCES, type Sequence } from './sequences.ts';
import { Stage } from './stage.ts';

interface Options {
  readonly only?: RegExp;
  readonly rounds: number;
  readonly rate: number;
  readonly services: number;
  readonly endpoints: number;
  readonly plantOldRemovedFirst?: true;
  readonly json?: string;
  readonly docs?: string;
}

export const command = new Command()
  .option('--only <pattern>', 'only the sequences that match', (text) => new RegExp(text, 'i'))
  .option('--rounds <count>', 'repetitions of each sequence, there and back', Number, 1)
  .option('--rate <count>', 'connections a second', Number, 500)
  .option('--services <count>', 'Services in addition to the one under load', Number, 100)
  .option('--endpoints <count>', 'endpoints of each', Number, 5)
  .option('--plant-old-removed-first', 'plant a fault that must be found: a time without rules')
  .option('--json <file>', 'write all figures into a file')
  .option('--docs <file>', 'write the table into a document, between its marks')
  .action(changeAll);

command
  .command('load <plan>', { hidden: true })
  .description('internal: the process of the client')
  .action(answerLoad);

async function changeAll(options: Options): Promise<void> {
  const { only } = options;
  const wanted = SEQUENCES.filter((each) => (only ? only.test(each.name) : canRun(each)));
  if (wanted.length === 0) {
    const next = `choose from: ${SEQUENCES.map(({ name }) => name).join(', ')}`;
    throw new LabError('LAB_USAGE', `no sequence matches ${only}`, { next });
  }
  for (const { title, variant } of wanted.flatMap(({ owners }) => owners.map(ownerOf))) {
    assertKernelHas(variant.kernelParts ?? [], title);
  }
  const progress = terminalProgress();
  await progress.step('bundle', bundle);
  const results = await runSequences(wanted, options, progress);
  console.log(changesTable(results));
  for (const evidence of results.map(evidenceOf).filter(Boolean)) console.log(`\n${evidence}`);
  if (options.json !== undefined) await writeFile(options.json, JSON.stringify(results, null, 2));
  if (options.docs !== undefined) {
    await updateDocument(options.docs, 'takeover', changesMarkdown(results));
  }
  if (results.some((result) => faultsOf(result).length > 0)) process.exitCode = 1;
}

function canRun({ owners }: Sequence): boolean {
  return owners.map(ownerOf).every(({ variant }) => (variant.kernelParts ?? []).every(kernelHas));
}

async function runSequences(
  sequences: readonly Sequence[],
  options: Options,
  progress: Progress,
): Promise<ChangeResult[]> {
  const load = { services: options.services, endpointsPerService: options.endpoints };
  const signal = interruption();
  await using lab = await startLab({ nodeCount: 1, load, progress, signal });
  const stage = new Stage(lab);
  await progress.step('pods and a Service', () => stage.prepare());
  const results: ChangeResult[] = [];
  for (const sequence of sequences) {
    signal.throwIfAborted();
    await runSequence(stage, sequence, { options, progress, results, signal });
  }
  return results;
}

async function runSequence(
  stage: Stage,
  { name, owners }: Sequence,
  of: { options: Options; progress: Progress; results: ChangeResult[]; signal: AbortSignal },
): Promise<void> {
  const { options, progress, results, signal } = of;
  const all = owners.map(ownerOf);
  const [first, ...others] = all;
  if (first === undefined) return;
  for (const owner of all) {
    await progress.step(`${owner.title} alone`, () => stage.alone(owner));
  }
  let daemon = await progress.step(`${first.title} serves`, () => stage.start(first));
  try {
    using load = stage.load(options.rate);
    let from = first;
    const changes = Array.from({ length: options.rounds }, () => others).flat();
    for (const to of changes) {
      signal.throwIfAborted();
      const isOldRemovedFirst = options.plantOldRemovedFirst ?? false;
      const change = { sequence: name, from, to, isOldRemovedFirst };
      const done = await progress.step(`${from.title} -> ${to.title}`, () =>
        changeProxy(stage, change, { daemon, load }),
      );
      daemon = done.daemon;
      from = to;
      results.push(done.result);
    }
  } finally {
    await daemon.stop();
    await wipeRules(stage.node);
  }
}
