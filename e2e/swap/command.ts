import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { LabError } from '../../lab/host/errors.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { HELM_MAJORS, type HelmMajor, NEWEST_HELM } from '../../lab/parts/helm.ts';
import { runSwap } from './run-swap.ts';
import { swapMarkdown, swapTable } from './table.ts';
import { failureCount } from './tally.ts';
import type { Way } from './ways.ts';

interface Options {
  readonly nodes: number;
  readonly perSecond: number;
  readonly sabotage: boolean;
  readonly oneLine: boolean;
  readonly helm?: true | HelmMajor;
  readonly json?: string;
  readonly docs?: string;
}

const REST_MS = 10_000;
/** Marks of the tables in docs/install.md. */
const MARKS = { steps: 'swap', helm: 'helm', 'one-line': 'one-line' } as const;

/**
 * Replaces kube-proxy by Fairlead and Fairlead by kube-proxy in a cluster with real nodes, by the
 * steps of docs/install.md, while a pod opens connections all the time.
 */
export const swapCommand = new Command('swap')
  .description(
    'Replaces kube-proxy with Fairlead and back under load, by the steps of docs/install.md',
  )
  .option('--nodes <count>', 'how many nodes', Number, 3)
  .option('--per-second <count>', 'new connections a second to each target', Number, 200)
  .option('--one-line', "only change the image line of kube-proxy's own DaemonSet", false)
  .addOption(
    new Option(
      '--helm [major]',
      'by the steps with Helm and the chart; the newest if not given',
    ).argParser(helmMajor),
  )
  .option(
    '--sabotage',
    "remove kube-proxy's rules before Fairlead starts, and check that it is detected",
    false,
  )
  .option('--json <file>', 'write the results as JSON')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .action(main);

function helmMajor(text: string): HelmMajor {
  const major = HELM_MAJORS.find((known) => text === `${known}`);
  if (major === undefined) {
    throw new InvalidArgumentError(`It must be one of ${HELM_MAJORS.join(', ')}.`);
  }
  return major;
}

async function main(options: Options): Promise<void> {
  const { nodes, perSecond, sabotage: isSabotaged } = options;
  const context = { progress: terminalProgress(), signal: interruption() };
  const way = wayOf(options);
  const helm = typeof options.helm === 'number' ? options.helm : NEWEST_HELM;
  const plan = { way, helm, nodes, perSecond, restMs: REST_MS, isSabotaged } as const;
  const results = await runSwap({ ...plan, ...context });
  console.log(`\n${swapTable(results)}`);
  if (options.json) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
  if (options.docs) await updateDocument(options.docs, MARKS[way], swapMarkdown(results));
  const failures = failureCount(results);
  if (isSabotaged) console.log(failures > 0 ? '\ncaught' : '\nMISSED: no connection failed');
  process.exitCode = failures > 0 === isSabotaged ? 0 : 1;
}

function wayOf({ oneLine, helm, sabotage }: Options): Way {
  if (oneLine && (sabotage || helm)) {
    throw new LabError('LAB_USAGE', '--one-line excludes --sabotage and --helm', {
      next: 'give only one of them',
    });
  }
  if (helm) return 'helm';
  return oneLine ? 'one-line' : 'steps';
}
