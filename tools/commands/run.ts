import { spawn } from 'node:child_process';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The own environment when not given. */
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Outcome {
  readonly ok: boolean;
  /** Both streams as they came, and why it ended when the exit code alone does not say. */
  readonly output: string;
  readonly tookMs: number;
}

/** Runs a command to its end, or to its deadline. It never throws: failing is an outcome. */
export async function runCommand(command: Command): Promise<Outcome> {
  const startedAt = performance.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const chunks: Buffer[] = [];
  const end = (ok: boolean, reason: string): void => {
    const output = Buffer.concat(chunks).toString('utf8') + reason;
    resolve({ ok, output, tookMs: performance.now() - startedAt });
  };

  const child = spawn(command.program, command.args, {
    cwd: command.folder,
    env: command.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that the deadline also reaches what the program itself started.
    detached: true,
  });
  const stop = AbortSignal.any([command.signal, AbortSignal.timeout(command.timeoutMs)]);
  const kill = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  stop.addEventListener('abort', kill);

  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('error', (error) => {
    stop.removeEventListener('abort', kill);
    end(false, `${command.program} could not be started: ${error.message}\n`);
  });
  child.on('close', (code, signal) => {
    stop.removeEventListener('abort', kill);
    const reason = stop.aborted ? `stopped: ${stop.reason}` : `ended by ${signal}`;
    end(code === 0, signal === null ? '' : `${command.program} ${reason}\n`);
  });
  return await promise;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has exited in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
