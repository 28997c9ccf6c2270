import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Program } from './program.ts';

export interface PartRun {
  readonly program: Program;
  readonly folder: string;
  readonly logFile: string;
  /** Where its output goes besides the log. */
  readonly show?: NodeJS.WritableStream | undefined;
  /** When it is ended, and why: a hang, the end of the plan, an interruption. */
  readonly end: AbortSignal;
  readonly graceMs: number;
}

export interface PartEnd {
  readonly milliseconds: number;
  /** Why it did not end by itself with exit code 0. */
  readonly failure?: string;
}

/** What a process of another group may keep open of the part's output is not waited for longer. */
const OUTPUT_DEADLINE_MS = 2_000;

/**
 * Runs one command in a process group of its own, to its end or until it is stopped. It never
 * throws for what the command does.
 */
export async function runPart(run: PartRun): Promise<PartEnd> {
  const startedAt = performance.now();
  const [program, ...args] = run.program.argv;
  const child = spawn(program, args, {
    cwd: run.folder,
    env: run.program.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const log = createWriteStream(run.logFile);
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(log, { end: false });
    if (run.show) stream.pipe(run.show, { end: false });
  }
  const closed = once(child, 'close').catch(() => undefined);
  using _ = endedBy(child, run);
  const failure = await failureOf(child, program);
  const milliseconds = performance.now() - startedAt;
  // Whatever of the group outlives its first process: a part leaves nothing running.
  killGroup(child);
  await closedOrLate(closed, child);
  log.end();
  await finished(log);
  const why = run.end.aborted ? `ended: ${describe(run.end.reason)}` : failure;
  return why === undefined ? { milliseconds } : { milliseconds, failure: why };
}

async function failureOf(child: ChildProcess, program: string): Promise<string | undefined> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (code === 0) return undefined;
    return code === null ? `killed by ${signal}` : `exit code ${code}`;
  } catch (error) {
    return `cannot start ${program}: ${describe(error)}`;
  }
}

/** Asks the first process to end, which ends what it started, and kills the group if it does not. */
function endedBy(child: ChildProcess, { end, graceMs }: PartRun): Disposable {
  let killTimer: NodeJS.Timeout | undefined;
  const ask = (): void => {
    child.kill('SIGTERM');
    killTimer = setTimeout(() => killGroup(child), graceMs);
  };
  end.addEventListener('abort', ask, { once: true });
  if (end.aborted) ask();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(killTimer);
      end.removeEventListener('abort', ask);
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group is empty: all of it has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function closedOrLate(closed: Promise<unknown>, child: ChildProcess): Promise<void> {
  const destroy = (): void => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const timer = setTimeout(destroy, OUTPUT_DEADLINE_MS);
  await closed;
  clearTimeout(timer);
}

function describe(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
