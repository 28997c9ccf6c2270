import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { TRAPS } from './catalogue.ts';
import { trapsMarkdown, trapsTable } from './report.ts';
import { runTrap } from './run-traps.ts';
import type { TrapResult } from './trap.ts';

interface Options {
  readonly only?: RegExp;
  readonly docs?: string;
}

export const command = new Command()
  .option('--only <pattern>', 'only the traps whose name matches', (text) => new RegExp(text, 'i'))
  .option('--docs <file>', 'write the table into a document, between its marks')
  .action(runAll);

async function runAll({ only, docs }: Options): Promise<void> {
  const traps = TRAPS.filter(({ name }) => only?.test(name) ?? true);
  if (traps.length === 0) {
    const next = `choose from: ${TRAPS.map(({ name }) => name).join(', ')}`;
    throw new LabError('LAB_USAGE', `no trap matches ${only}`, { next });
  }
  const watch = { progress: terminalProgress(), signal: interruption() };
  const results: TrapResult[] = [];
  for (const trap of traps) {
    const result = await runTrap(trap, watch);
    console.error(`    ${trap.name}: ${result.failure ?? 'NOT CAUGHT'}`);
    results.push(result);
  }
  console.log(trapsTable(results));
  if (docs !== undefined) await updateDocument(docs, 'traps', trapsMarkdown(results));
  if (results.some(({ failure }) => failure === undefined)) process.exitCode = 1;
}
