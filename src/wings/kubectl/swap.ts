import { Command } from 'commander';
import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';
import { colours } from '../../commands/terminal/colour.ts';
import { printJson, printNote, printPage } from '../../commands/terminal/print.ts';
import { interruptible } from './interruptible.ts';
import { type Kubectl, openKubectl } from './kubectl.ts';
import { addClusterOptions, MS_PER_SECOND, timeoutOption } from './nodes-options.ts';
import { widthNow } from './nodes-view.ts';
import { backSteps } from './swap/back-steps.ts';
import { type Asking, readDaemonSet } from './swap/daemon-sets.ts';
import { podSpecOf, usualImage } from './swap/manifests.ts';
import { findKubeProxy } from './swap/prerequisites.ts';
import { runSteps, type StepListener } from './swap/run-steps.ts';
import type { Step, StepResult } from './swap/step.ts';
import { beginText, endText, resultData } from './swap/steps-view.ts';
import { imageOf, isParked } from './swap/swap-checks.ts';
import { swapSteps } from './swap/swap-steps.ts';

interface SwapOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly image?: string;
  readonly dryRun?: true;
  /** Seconds, for each step. */
  readonly timeout: number;
  readonly output: 'text' | 'json';
}

/** `kubectl`: it failed; `check`: what a step led to is not as expected. */
const EXIT = { kubectl: 1, check: 3 } as const;
const USUAL_SECONDS = 240;
const LONGEST_SECONDS = 3_600;
const CALL_MS = 15_000;

/** `kubectl fairlead swap`: kube-proxy to Fairlead, on all nodes of a cluster that is in use. */
export function swapCommand(given?: Kubectl): Command {
  const command = new Command('swap').description(
    'replace kube-proxy of a cluster as kubeadm makes it by Fairlead, with a check after each step; run again, it continues; exit code 3 if a check fails, 1 if kubectl does',
  );
  return addSwapOptions(command).action(async (options: SwapOptions) => {
    const kubectl = given ?? openKubectl(options);
    const kubeProxy = await findKubeProxy(kubectl);
    const image = options.image ?? (await imageNow(kubectl)) ?? usualImage();
    const timeoutMs = options.timeout * MS_PER_SECOND;
    const steps = swapSteps(kubectl, { image, kubeProxy, timeoutMs });
    await follow(kubectl, steps, { ...options, whole: 'kube-proxy to Fairlead' });
  });
}

/** `kubectl fairlead back`: Fairlead to the kube-proxy that `swap` has stopped. */
export function backCommand(given?: Kubectl): Command {
  const command = new Command('back').description(
    'replace Fairlead by the kube-proxy that `swap` has stopped, with a check after each step; run again, it continues; exit code 3 if a check fails, 1 if kubectl does',
  );
  return addSwapOptions(command).action(async (options: SwapOptions) => {
    const kubectl = given ?? openKubectl(options);
    const kubeProxy = await findKubeProxy(kubectl);
    const daemonSet = await readDaemonSet(askingOf(kubectl), 'kube-proxy');
    const wanted = {
      image: options.image ?? (await imageNow(kubectl)) ?? usualImage(),
      kubeProxy,
      isParked: daemonSet !== undefined && isParked(daemonSet),
      timeoutMs: options.timeout * MS_PER_SECOND,
    };
    await follow(kubectl, backSteps(kubectl, wanted), {
      ...options,
      whole: 'Fairlead to kube-proxy',
    });
  });
}

function askingOf(kubectl: Kubectl): Asking {
  return { kubectl, call: { timeoutMs: CALL_MS } };
}

/** The image that Fairlead runs from, or its cleanup, where a run before was interrupted. */
async function imageNow(kubectl: Kubectl): Promise<string | undefined> {
  const fairlead = await readDaemonSet(askingOf(kubectl), 'fairlead');
  if (fairlead !== undefined) return imageOf(fairlead, 'fairlead') || undefined;
  const cleanup = await readDaemonSet(askingOf(kubectl), 'fairlead-cleanup');
  return cleanup && (firstImageOf(cleanup) || undefined);
}

function firstImageOf(daemonSet: JsonRecord): string {
  const [first] = arrayAt(podSpecOf(daemonSet), 'initContainers').filter(isRecord);
  return first === undefined ? '' : textAt(first, 'image');
}

function addSwapOptions(command: Command): Command {
  const stepping = command
    .option('--dry-run', 'print the steps and their commands, and change nothing')
    .option(
      '--image <name>',
      'the image of Fairlead; default: the one that runs, else that of deploy/manifests',
    )
    .addOption(
      timeoutOption('how long each step may take until its check holds', {
        usual: USUAL_SECONDS,
        longest: LONGEST_SECONDS,
      }),
    );
  return addClusterOptions(stepping);
}

async function follow(
  kubectl: Kubectl,
  steps: readonly Step[],
  options: SwapOptions & { readonly whole: string },
): Promise<void> {
  const isDryRun = options.dryRun === true;
  const print = options.output === 'json' ? printNote : printPage;
  const results = await interruptible((signal) =>
    runSteps(kubectl, { steps, isDryRun, listener: teller(steps, print), signal }),
  );
  const failed = results.find(({ state }) => state === 'failed');
  if (options.output === 'json') {
    const done = failed === undefined && !isDryRun;
    printJson({ done, dryRun: isDryRun, steps: results.map(resultData) });
  } else printPage(`\n${summary(results, { ...options, count: steps.length })}`);
  process.exitCode = failed?.failedAt === undefined ? 0 : EXIT[failed.failedAt];
}

function teller(steps: readonly Step[], print: (text: string) => void): StepListener {
  const painted = colours(process.stdout, process.env);
  return {
    begins: (step, index) =>
      print(`${beginText(step, `${index + 1} of ${steps.length}`, painted)}`),
    runs: (because) => {
      if (because.length > 0) printNote(`  because: ${because.join('; ')}`);
    },
    waits: (why) => printNote(`  waiting: ${why.join('; ')}`),
    ended: (result) => print(endText(result, { width: widthNow(), colours: painted })),
  };
}

function summary(
  results: readonly StepResult[],
  run: { readonly whole: string; readonly count: number; readonly dryRun?: true },
): string {
  const failed = results.findIndex(({ state }) => state === 'failed');
  if (failed !== -1) return `stopped at step ${failed + 1} of ${run.count}`;
  return run.dryRun ? `${run.whole}: nothing was changed` : `${run.whole}: done`;
}
