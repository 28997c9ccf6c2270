import { spawn } from 'node:child_process';
import { LabError } from './errors.ts';

export interface RunOptions {
  /** Text for the command's standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk of output, for commands whose progress is worth showing. */
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const DEFAULT_DEADLINE_MS = 30_000;

/** Runs a command to its end. A non-zero exit code is an answer, not an error. */
export async function tryRun(
  argv: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<RunResult> {
  const [command, ...args] = argv;
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const deadline = AbortSignal.timeout(deadlineMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;

  return await new Promise<RunResult>((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ? { ...process.env, ...options.env } : process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onStdout?.(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      options.onStderr?.(text);
    });
    // A child that ends before it has read its input raises EPIPE here; its exit code says why.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error);
    });
    child.stdin.end(options.input ?? '');
    child.on('error', (error: NodeJS.ErrnoException) => {
      // Whoever ended it knows why better than the child does.
      if (options.signal?.aborted) reject(options.signal.reason as Error);
      reject(explainSpawnError(argv, { error, timedOut: deadline.aborted, deadlineMs }));
    });
    child.on('close', (exitCode) => resolve({ exitCode: exitCode ?? -1, stdout, stderr }));
  });
}

/** Runs a command and gives its standard output; a non-zero exit code is an error. */
export async function run(
  argv: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<string> {
  const result = await tryRun(argv, options);
  if (result.exitCode !== 0) {
    throw new LabError(
      'LAB_COMMAND_FAILED',
      `${argv.join(' ')} exited with code ${result.exitCode}: ${lastLines(result.stderr || result.stdout)}`,
      { next: 'run the command by hand to see its full output' },
    );
  }
  return result.stdout;
}

function explainSpawnError(
  argv: readonly [string, ...string[]],
  what: { error: NodeJS.ErrnoException; timedOut: boolean; deadlineMs: number },
): Error {
  if (what.error.code === 'ENOENT') {
    return new LabError('LAB_TOOL_MISSING', `${argv[0]} is not installed`, {
      next: 'install the Debian packages listed in docs/lab.md',
      cause: what.error,
    });
  }
  if (what.timedOut) {
    return new LabError(
      'LAB_COMMAND_TIMED_OUT',
      `${argv.join(' ')} did not exit within ${what.deadlineMs} ms`,
      { next: 'check for a hung process or an overloaded machine', cause: what.error },
    );
  }
  return what.error;
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-8).join('\n');
}
