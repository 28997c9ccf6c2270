import { spawn } from 'node:child_process';

export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** In addition to our own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface ProgramResult {
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/**
 * Runs a program to its end and collects its output; its standard error goes to ours. Rejects when
 * it cannot be started.
 */
export async function runProgramToEnd(call: ProgramCall): Promise<ProgramResult> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramResult>();
  const child = spawn(call.command, call.args, {
    env: { ...process.env, ...call.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Node's own timeout outlives a program that could not be started, and keeps us alive with it.
  const late = setTimeout(() => child.kill('SIGKILL'), call.timeoutMs);
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_OUTPUT_BYTES) child.kill('SIGKILL');
  });
  child.on('error', reject);
  child.on('close', (exitCode) => {
    resolve({ exitCode, stdout: Buffer.concat(chunks).toString('utf8') });
  });
  return await promise.finally(() => clearTimeout(late));
}
