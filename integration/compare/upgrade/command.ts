import { Command, Option } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { layoutFault } from '../../break/faults/plane/layout-fault.ts';
import type { PlaneResult } from '../../break/faults/plane/plane-fault.ts';
import { planeProxy, SCENE_PROXIES } from '../../break/faults/plane/plane-proxies.ts';
import { runPlaneFaults } from '../../break/faults/plane/run-plane-faults.ts';
import { isPassed, type Upgrade, upgradesMarkdown, upgradesTable } from './report.ts';

interface Options {
  readonly from?: string;
  readonly mode: readonly string[];
  readonly docs?: string;
}

const MODES = SCENE_PROXIES.map((name) => planeProxy(name).mode);
export const command = new Command()
  .option('--from <commit>', 'the version before; the newest tag by default')
  .addOption(new Option('--mode <modes...>', 'only these').choices(MODES).default(MODES))
  .option('--docs <file>', 'write the table into a document, between its marks')
  .action(upgradeAll);

async function upgradeAll({ from, mode, docs }: Options): Promise<void> {
  const commit = await commitOf(from ?? (await newestTag()));
  const progress = terminalProgress();
  const signal = interruption();
  const upgrades: Upgrade[] = [];
  for (const each of mode) {
    const proxy = `fairlead-${each}`;
    const fault = { ...layoutFault(commit), name: `${commit} and back, ${each}` };
    const [result] = await runPlaneFaults([fault], { proxy, progress, signal });
    upgrades.push({ mode: each, result: result as PlaneResult });
  }
  console.log(upgradesTable(commit, upgrades));
  if (docs !== undefined) {
    await updateDocument(docs, 'upgrade', upgradesMarkdown(commit, upgrades));
  }
  if (!upgrades.every(isPassed)) process.exitCode = 1;
}

async function newestTag(): Promise<string> {
  const { exitCode, stdout } = await tryRun(['git', 'describe', '--tags', '--abbrev=0']);
  if (exitCode === 0) return stdout.trim();
  throw new LabError('LAB_USAGE', 'there is no tag yet, so no release to upgrade from', {
    next: 'name a commit: npm run compare -- upgrade --from COMMIT',
  });
}

async function commitOf(name: string): Promise<string> {
  const { exitCode, stdout } = await tryRun(['git', 'rev-parse', '--short', `${name}^{commit}`]);
  if (exitCode === 0) return stdout.trim();
  throw new LabError('LAB_USAGE', `this copy of the repository has no commit ${name}`, {
    next: 'fetch it, or name another one with --from',
  });
}
