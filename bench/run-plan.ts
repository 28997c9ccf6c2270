import { LabError } from '../lab/host/errors.ts';
import type { Progress } from '../lab/host/progress.ts';
import { measureBare } from './bare.ts';
import { NODE } from './control/proxy-process.ts';
import { measureDataPath } from './data/data-path.ts';
import { type LeftToDo, NO_PROXY } from './left-to-do.ts';
import type { Step } from './plan.ts';
import type { BareFigures, Run, Visit } from './record.ts';
import { Remaining } from './remaining.ts';
import { openSite, type Site } from './site/site.ts';
import { isSameSize, sizeText } from './sizes.ts';
import { visit } from './visit.ts';
import { warmingStep, warmUp } from './warm-up.ts';

export interface RunOptions {
  readonly todo: LeftToDo;
  /** What was measured is added to it, step by step. */
  readonly run: Run;
  /** Path of the program that serves, asks and copies. */
  readonly tool: string;
  /** What Node is given to run Fairlead. */
  readonly program: readonly string[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly keep: (run: Run) => Promise<void>;
}

const NO_PROXY_CYCLES = 4;

/** Makes the visits of the plan, and keeps what it has after each. */
export async function runPlan(options: RunOptions): Promise<void> {
  const { run, signal } = options;
  const { steps, hasSocketPlaces } = options.todo;
  const remaining = new Remaining(steps);
  const startedAtMs = performance.now();
  const before = run.tookSeconds;
  const { tool, progress } = options;
  for (let index = 0; index < steps.length; ) {
    const size = steps[index]?.size;
    if (size === undefined) break;
    const ofSize = steps.slice(index).filter((step) => isSameSize(step.size, size));
    await using site = ofSize.some(({ notRun }) => notRun === undefined)
      ? await openSite({ size, program: tool, hasSocketPlaces, progress, signal })
      : undefined;
    if (site !== undefined) await warmUpSite(options, site, ofSize);
    for (const step of ofSize) {
      const title = `[${index + 1}/${steps.length}, ${remaining.text(index)}] ${stepText(step)}`;
      const made = await makeStep(options, { step, site, title }).catch(async (error: unknown) => {
        // A proxy that cannot be ended has the kernel with it: the rest of the run would not be true.
        if (!(error instanceof LabError) || signal.aborted) throw error;
        run.visits.push({ ...placeOf(step), tookSeconds: 0, ended: `failed: ${error.message}` });
        await options.keep(run);
        throw error;
      });
      remaining.took(step, made.tookSeconds);
      run.visits.push(made);
      run.tookSeconds = before + (performance.now() - startedAtMs) / 1_000;
      await options.keep(run);
      index++;
    }
  }
}

async function warmUpSite(options: RunOptions, site: Site, steps: readonly Step[]): Promise<void> {
  const { progress, program, signal } = options;
  const step = warmingStep(steps);
  if (step === undefined) return;
  await progress.step(`${sizeText(site.size)}: warm-up, not recorded`, (detail) =>
    warmUp(step, { site, program, detail, signal }),
  );
}

function stepText({ size, contestant, round }: Step): string {
  return `${sizeText(size)}, ${contestant?.name ?? NO_PROXY}, round ${round}`;
}

function placeOf({ size, round, contestant }: Step): Pick<Visit, 'size' | 'round' | 'proxy'> {
  return { size, round, proxy: contestant?.name ?? NO_PROXY };
}

interface Making {
  readonly step: Step;
  readonly site: Site | undefined;
  readonly title: string;
}

async function makeStep(options: RunOptions, { step, site, title }: Making): Promise<Visit> {
  const { contestant, round, measures } = step;
  const of = placeOf(step);
  if (step.notRun !== undefined || site === undefined) {
    return { ...of, tookSeconds: 0, ended: step.notRun ?? '' };
  }
  const { signal, program, run } = options;
  return await options.progress.step(title, async (detail) => {
    if (contestant === undefined) return { ...of, ...(await withoutProxy(site, signal)) };
    const bare: BareFigures[] = [];
    const made = await visit({
      site,
      contestant,
      program,
      round,
      measures,
      detail,
      signal,
      afterStart: async () => {
        detail('the same rules, written by bare programs');
        bare.push(...(await measureBare(site, contestant)));
      },
    });
    run.limits.push(...bare);
    return made;
  });
}

/** Nothing but the kernel's own way to the pod. */
async function withoutProxy(
  site: Site,
  signal: AbortSignal,
): Promise<Pick<Visit, 'tookSeconds' | 'data'>> {
  const begunAtMs = performance.now();
  const data = await measureDataPath({
    pods: site.data,
    nodePath: site.lab.namespacePath(NODE),
    hasProxy: false,
    cycles: NO_PROXY_CYCLES,
    signal,
  });
  return { tookSeconds: (performance.now() - begunAtMs) / 1_000, data };
}
