import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GRACE_SECONDS, HANG_FACTOR } from './limits.ts';
import { budgetSeconds, type Part } from './part.ts';
import type { Program } from './program.ts';
import { judged, type PartResult } from './results.ts';
import { runPart } from './run-part.ts';

export interface PlanRun {
  readonly parts: readonly Part[];
  /** Names of the parts that find no cache. */
  readonly cold: readonly string[];
  readonly slowness: number;
  /** Since the start of this machine. */
  readonly stolenSeconds: () => number;
  /** Go on after a failure. */
  readonly keepGoing: boolean;
  readonly folder: string;
  readonly programOf: (command: readonly [string, ...string[]]) => Program;
  readonly logFolder: string;
  /** Where the output of the parts goes; only to their logs if not given. */
  readonly show?: NodeJS.WritableStream | undefined;
  /** Aborted by a person, or by the deadline of the plan. */
  readonly signal: AbortSignal;
  readonly onStart: (part: Part, allowedSeconds: number) => void;
  readonly onResult: (result: PartResult) => Promise<void>;
  readonly limits?: Limits;
}

/** What keeps a part that hangs from going on for ever. */
export interface Limits {
  readonly hangFactor: number;
  readonly graceMs: number;
}

const USUAL_LIMITS: Limits = { hangFactor: HANG_FACTOR, graceMs: GRACE_SECONDS * 1_000 };

/** Runs one part after the other. */
export async function runPlan(run: PlanRun): Promise<void> {
  await mkdir(run.logFolder, { recursive: true });
  for (const part of run.parts) {
    if (run.signal.aborted) return;
    const allowed = allowedSeconds(part, run);
    run.onStart(part, allowed);
    const result = await runOne(run, part, allowed);
    await run.onResult(result);
    if (result.failure !== undefined && !run.keepGoing) return;
  }
}

/** The budget of a part, here and now. */
export function allowedSeconds(
  part: Part,
  { cold, slowness }: Pick<PlanRun, 'cold' | 'slowness'>,
): number {
  return Math.round(budgetSeconds(part, cold.includes(part.name)) * slowness);
}

async function runOne(run: PlanRun, part: Part, allowed: number): Promise<PartResult> {
  if (part.command === undefined) throw new TypeError(`part ${part.name} has no command`);
  const { hangFactor, graceMs } = run.limits ?? USUAL_LIMITS;
  const hang = new AbortController();
  const stolenBefore = run.stolenSeconds();
  // A host that has much else to do lets this machine stand still: that is not the part's time.
  const granted = (): number => allowed + Math.round(run.stolenSeconds() - stolenBefore);
  using _ = whenOver(
    () => granted() * hangFactor,
    (seconds) => hang.abort(`still running after ${seconds} s, with a budget of ${granted()} s`),
  );
  const { milliseconds, failure } = await runPart({
    program: run.programOf(part.command),
    folder: run.folder,
    logFile: join(run.logFolder, `${part.name}.log`),
    show: run.show,
    end: AbortSignal.any([hang.signal, run.signal]),
    graceMs,
  });
  const end = { seconds: milliseconds / 1_000, ...(failure === undefined ? {} : { failure }) };
  return judged(part.name, end, granted());
}

/** Calls back when so many seconds have passed, which may have become more meanwhile. */
function whenOver(limitSeconds: () => number, onOver: (seconds: number) => void): Disposable {
  const startedAtMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const seconds = limitSeconds();
    const leftMs = seconds * 1_000 - (performance.now() - startedAtMs);
    if (leftMs > 0) timer = setTimeout(look, leftMs);
    else onOver(seconds);
  };
  look();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
