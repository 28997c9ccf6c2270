import { spawn } from 'node:child_process';

export interface ProgramQuestion {
  readonly command: string;
  readonly args: readonly string[];
  /** For its standard input; undefined: none. */
  readonly input?: string;
  readonly timeoutMs: number;
  /** Kills it when aborted. */
  readonly signal?: AbortSignal;
  /** In a process group of its own: Ctrl-C of a terminal does not reach it. */
  readonly isDetached?: boolean;
}

export type NotEnded = 'late' | 'too much output' | 'interrupted';

export type ProgramAnswer =
  | {
      readonly ended: true;
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
    }
  /** It was killed: its time was over, it wrote too much, or the signal was aborted. */
  | { readonly ended: false; readonly why: NotEnded };

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_COMPLAINT_BYTES = 64 * 1024;
/** As a shell counts a program that a signal ended. */
const BY_SIGNAL = 128;

/** Runs a program to its end, or to its deadline. Rejects when it cannot be started. */
export async function askProgram(question: ProgramQuestion): Promise<ProgramAnswer> {
  const { command, args, input, timeoutMs, signal, isDetached = false } = question;
  if (signal?.aborted) return { ended: false, why: 'interrupted' };
  const { promise, resolve, reject } = Promise.withResolvers<ProgramAnswer>();
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: isDetached });
  const giveUp = (why: NotEnded): void => {
    child.kill('SIGKILL');
    // What it started may live on and hold these: it is not waited for.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    resolve({ ended: false, why });
  };
  const late = setTimeout(() => giveUp('late'), timeoutMs);
  const interrupt = (): void => giveUp('interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  const stdout = new Collected(MOST_BYTES);
  const stderr = new Collected(MOST_COMPLAINT_BYTES);
  child.stdout.on('data', (chunk: Buffer) => {
    if (!stdout.add(chunk)) giveUp('too much output');
  });
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
  // It may end without reading what it is given.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  child.on('error', reject);
  child.on('close', (code) => {
    const exitCode = code ?? BY_SIGNAL;
    resolve({ ended: true, exitCode, stdout: stdout.text, stderr: stderr.text });
  });
  return await promise.finally(() => {
    clearTimeout(late);
    signal?.removeEventListener('abort', interrupt);
  });
}

/** Output up to a limit. */
class Collected {
  readonly #most: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False: there was no room for all of it. */
  add(chunk: Buffer): boolean {
    const room = this.#most - this.#size;
    if (room > 0) this.#chunks.push(chunk.subarray(0, room));
    this.#size += chunk.length;
    return this.#size <= this.#most;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
