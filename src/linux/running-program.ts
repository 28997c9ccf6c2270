import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** How a program ended. */
export interface ProgramEnd {
  readonly exitCode: number;
  /** Its last complaints. */
  readonly stderr: string;
}

const MOST_BYTES = 64 * 1024;
/** As a shell counts a program that a signal ended. */
const BY_SIGNAL = 128;
const KILL_AFTER_MS = 2_000;

/** A program that runs until it is stopped, or ends by itself. Its standard input stays open. */
export class RunningProgram implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  /** Rejects when it cannot be started. */
  readonly ended: Promise<ProgramEnd>;
  #stdout = '';
  #stderr = '';
  #onOutput: (() => void) | undefined;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>();
    this.ended = promise;
    child.stdout.on('data', (chunk: Buffer) => {
      this.#stdout = (this.#stdout + chunk.toString('utf8')).slice(-MOST_BYTES);
      this.#onOutput?.();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MOST_BYTES);
    });
    // It may end before its input is closed.
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (code) => resolve({ exitCode: code ?? BY_SIGNAL, stderr: this.#stderr }));
  }

  static start(command: string, args: readonly string[]): RunningProgram {
    const running = new RunningProgram(spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] }));
    // Who does not wait for the end must not be ended by its failure.
    running.ended.catch(() => undefined);
    return running;
  }

  /** What it printed so far matches; undefined: it ended, or its time was over. */
  async says(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray | undefined> {
    const { promise, resolve } = Promise.withResolvers<RegExpExecArray | undefined>();
    const look = (): void => {
      const found = pattern.exec(this.#stdout);
      if (found !== null) resolve(found);
    };
    this.#onOutput = look;
    look();
    const late = setTimeout(() => resolve(undefined), timeoutMs);
    const over = (): void => resolve(undefined);
    this.ended.then(over, over);
    return await promise.finally(() => clearTimeout(late));
  }

  /** Closes its input and ends it. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
    const over = (): void => clearTimeout(kill);
    await this.ended.then(over, over);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
