import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { bundleFairlead, compileKernelPrograms } from '../../../bench/bundle.ts';
import { updateDocument } from '../../../lab/host/document.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { startLab } from '../../../lab/lab.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import { FAIRLEAD_PROXIES, type FairleadProxy } from '../../../lab/proxies/fairlead-modes.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { incidentsOf } from './list.ts';
import { incidentsMarkdown, incidentsTable } from './report.ts';
import type { IncidentResult } from './result.ts';
import { runIncident } from './run-incident.ts';
import { IncidentScene } from './scene.ts';

interface Options {
  readonly proxy: string;
  readonly only?: RegExp;
  readonly json?: string;
  readonly docs?: string;
}

const NODES = 2;
const EXIT_WRONG = 1;
const [FIRST_PROXY] = FAIRLEAD_PROXIES;

export const command = new Command()
  .addOption(
    new Option('--proxy <name>', 'the proxy on the nodes')
      .choices(FAIRLEAD_PROXIES.map(({ name }) => name))
      .default(FIRST_PROXY?.name),
  )
  .option('--only <pattern>', 'only incidents whose name matches', (text) => new RegExp(text, 'i'))
  .option('--json <file>', 'write everything that was seen into a file')
  .option('--docs <file>', 'write the table into a document, between its marks')
  .action(runAll);

async function runAll(options: Options): Promise<void> {
  const proxy = FAIRLEAD_PROXIES.find(({ name }) => name === options.proxy);
  if (proxy === undefined) throw new TypeError(`no proxy ${options.proxy}`);
  const { chosen, leftOut } = incidentsOf(proxy.mode, options.only);
  if (chosen.length === 0) {
    const next = `choose from: ${incidentsOf(proxy.mode)
      .chosen.map(({ name }) => name)
      .join(', ')}`;
    throw new LabError('LAB_USAGE', `no incident of ${proxy.mode} matches ${options.only}`, {
      next,
    });
  }
  const results = await inLab(proxy, chosen);
  const report = { proxy: proxy.name, results, leftOut };
  console.log(incidentsTable(report));
  if (options.json !== undefined) {
    await writeFile(options.json, `${JSON.stringify(report, patternText, 1)}\n`);
  }
  if (options.docs !== undefined) {
    await updateDocument(options.docs, 'incidents', incidentsMarkdown(report));
  }
  if (results.some(({ faults }) => faults.length > 0)) process.exitCode = EXIT_WRONG;
}

async function inLab(
  proxy: FairleadProxy,
  incidents: ReturnType<typeof incidentsOf>['chosen'],
): Promise<IncidentResult[]> {
  const progress = terminalProgress();
  const signal = interruption();
  await provideTool('kubectl', { progress, signal });
  await findProxy('upstream-nftables').build?.({ progress, signal });
  // In every mode: the reasons of drops are read by one.
  await progress.step('eBPF programs', compileKernelPrograms);
  const program = await progress.step('bundle of Fairlead', () => bundleFairlead());
  await using lab = await startLab({ nodeCount: NODES, progress, signal });
  if (proxy.hasPrograms) await lab.makeSocketPlaces();
  await using scene = new IncidentScene({ lab, proxy, program, signal });
  await progress.step(`a shop, and ${proxy.name} on each node`, () => scene.prepare());
  const results: IncidentResult[] = [];
  for (const incident of incidents) {
    // Not left alone when interrupted: it undoes what it has done first.
    const result = await progress.step(incident.name, () => runIncident(scene, incident));
    for (const fault of result.faults) console.error(`    WRONG: ${fault}`);
    results.push(result);
  }
  return results;
}

function patternText(_key: string, value: unknown): unknown {
  return value instanceof RegExp ? String(value) : value;
}
