import { CommandError } from '../../../commands/command-error.ts';
import { type Level, ofLevel } from '../../../doctor/basic-finding.ts';
import { sleep } from '../../../time/sleep.ts';
import { complaintOf, type Kubectl } from '../kubectl.ts';
import type { Change, Step, StepCheck, StepResult } from './step.ts';

/** Told as it happens. */
export interface StepListener {
  /** Before the changes. */
  begins(step: Step, index: number): void;
  /** Its changes are made now, because this is not so yet. */
  runs(because: readonly string[]): void;
  /** A check that does not hold yet, when what it says has changed. */
  waits(why: readonly string[]): void;
  ended(result: StepResult): void;
}

const POLL_MS = 1_000;
/** For one change; waiting for what it leads to is the check's. */
const CHANGE_MS = 60_000;

export interface StepsRun {
  readonly steps: readonly Step[];
  readonly isDryRun: boolean;
  readonly listener: StepListener;
  readonly signal: AbortSignal;
}

/** Runs steps until one fails. Those that are done already are skipped: run again, it continues. */
export async function runSteps(
  kubectl: Kubectl,
  { steps, isDryRun, listener, signal }: StepsRun,
): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  for (const [index, step] of steps.entries()) {
    signal.throwIfAborted();
    listener.begins(step, index);
    const result = await runStep(kubectl, step, { isDryRun, listener, signal });
    listener.ended(result);
    results.push(result);
    if (result.state === 'failed') break;
  }
  return results;
}

async function runStep(
  kubectl: Kubectl,
  step: Step,
  run: Omit<StepsRun, 'steps'>,
): Promise<StepResult> {
  const { isDryRun, listener, signal } = run;
  const before = step.isDone && (await asked(step.isDone, signal));
  const because = before?.why ?? [];
  if (before !== undefined && because.length === 0) {
    return { step, state: 'already', ...before, because };
  }
  if (isDryRun) return { step, state: 'planned', what: '', why: [], because };
  if (step.changes.length > 0) listener.runs(because);
  for (const change of step.changes) {
    const complaint = await make(kubectl, change, signal);
    if (complaint !== undefined) {
      return { step, state: 'failed', what: '', why: [complaint], because, failedAt: 'kubectl' };
    }
  }
  const deadlineMs = performance.now() + step.timeoutMs;
  let told = '';
  for (;;) {
    const { what, why } = await asked(step.check, signal);
    signal.throwIfAborted();
    if (why.length === 0) return { step, state: 'done', what, why, because };
    if (performance.now() >= deadlineMs) {
      return { step, state: 'failed', what: '', why, because, failedAt: 'check' };
    }
    if (told !== why.join()) listener.waits(why);
    told = why.join();
    await sleep(POLL_MS, signal);
  }
}

/** A check that cannot be made does not hold: the API server may be back before the deadline. */
async function asked(
  check: StepCheck,
  signal: AbortSignal,
): Promise<Pick<StepResult, 'what' | 'why'>> {
  try {
    const found = await check(signal);
    const texts = (level: Level) => ofLevel(level, found).map(({ what }) => what);
    return { what: texts('ok').join(', '), why: texts('problem') };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { what: '', why: [error.message] };
  }
}

async function make(
  kubectl: Kubectl,
  { args, objects }: Change,
  signal: AbortSignal,
): Promise<string | undefined> {
  const items = objects && JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const input = items === undefined ? {} : { input: items };
  const answer = await kubectl.ask(args, { timeoutMs: CHANGE_MS, signal, ...input });
  if (answer.ended && answer.exitCode === 0) return undefined;
  return `kubectl ${args.join(' ')}: ${complaintOf(answer, CHANGE_MS)}`;
}
