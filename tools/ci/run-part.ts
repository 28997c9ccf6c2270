import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

export interface PartRun {
  readonly command: readonly [string, ...string[]];
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

/**
 * Runs one command in a process group of its own, to its end or until it is told to. It never
 * throws for what the command does.
 */
export async function runPart(run: PartRun): Promise<PartEnd> {
  const startedAt = performance.now();
  const [program, ...args] = run.command;
  const log = createWriteStream(run.logFile);
  const child = spawn(program, args, {
    cwd: run.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(log, { end: false });
    if (run.show) stream.pipe(run.show, { end: false });
  }
  const stopping = new Stopping(child, run);
  const failure = await failureOf(child, program);
  const milliseconds = performance.now() - startedAt;
  stopping.over();
  log.end();
  await finished(log);
  const why = run.end.aborted ? `ended: ${describe(run.end.reason)}` : failure;
  return why === undefined ? { milliseconds } : { milliseconds, failure: why };
}

type Child = ReturnType<typeof spawn>;

async function failureOf(child: Child, program: string): Promise<string | undefined> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (code === 0) return undefined;
    return code === null ? `killed by ${signal}` : `exit code ${code}`;
  } catch (error) {
    return `cannot start ${program}: ${describe(error)}`;
  }
}

/** Asks the process to end, and kills its group if it does not. */
class Stopping {
  readonly #child: Child;
  readonly #run: PartRun;
  #killTimer: NodeJS.Timeout | undefined;

  constructor(child: Child, run: PartRun) {
    this.#child = child;
    this.#run = run;
    run.end.addEventListener('abort', this.#ask);
    if (run.end.aborted) this.#ask();
  }

  /** Whatever of the group outlives its first process is killed: a part leaves nothing running. */
  over(): void {
    clearTimeout(this.#killTimer);
    this.#run.end.removeEventListener('abort', this.#ask);
    this.#kill();
    this.#child.stdout?.unpipe();
    this.#child.stderr?.unpipe();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  // The first process alone: npm passes the signal on, and a command that gets it twice ends at
  // once and leaves its labs.
  #ask = (): void => {
    this.#child.kill('SIGTERM');
    this.#killTimer = setTimeout(() => this.#kill(), this.#run.graceMs);
  };

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // The group is empty: all of it has ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function describe(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
