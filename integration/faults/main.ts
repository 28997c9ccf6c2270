import { Command } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { LabError } from '../../lab/host/errors.ts';
import { abortable, interruption } from '../../lab/host/interruption.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { startLab } from '../../lab/lab.ts';
import { LOAD } from './changes.ts';
import type { Fault } from './fault.ts';
import { LOAD_FAULTS } from './load-faults.ts';
import { faultsMarkdown, faultsTable } from './report.ts';
import { type FaultResult, runFault } from './run-fault.ts';
import { Scene } from './scene.ts';
import { SERVER_FAULTS } from './server-faults.ts';
import { WAY_FAULTS } from './way-faults.ts';

interface Options {
  readonly only?: RegExp;
  readonly docs?: string;
}

/** The one that leaves thousands of Services behind comes last. */
const FAULTS: readonly Fault[] = [...SERVER_FAULTS, ...WAY_FAULTS, ...LOAD_FAULTS];

const program = new Command('faults')
  .description('Breaks the API server and the way to it, and sees when the model is right again')
  .option('--only <pattern>', 'only the faults whose name matches', (text) => new RegExp(text, 'i'))
  .option('--docs <file>', 'write the table into a document, between its marks')
  .action(runAll);

async function runAll({ only, docs }: Options): Promise<void> {
  const faults = FAULTS.filter(({ name }) => only === undefined || only.test(name));
  if (faults.length === 0) {
    const next = `those that exist: ${FAULTS.map(({ name }) => name).join(', ')}`;
    throw new LabError('LAB_USAGE', `no fault matches ${only}`, { next });
  }
  const progress = terminalProgress();
  const signal = interruption();
  await using lab = await startLab({ nodeCount: 1, load: LOAD, progress, signal });
  await using scene = new Scene(lab);
  await scene.prepare();
  const results: FaultResult[] = [];
  for (const fault of faults) {
    const work = (): Promise<FaultResult> => abortable(runFault(scene, fault), signal);
    results.push(await progress.step(fault.name, work));
  }
  console.log(faultsTable(results));
  if (docs !== undefined) await updateDocument(docs, 'faults', faultsMarkdown(results));
  if (results.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
}

await program.parseAsync();
