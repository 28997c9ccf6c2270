import { spawn } from 'node:child_process';

const DEADLINE_MS = 60_000;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_COMPLAINT = 500;

/** What a program prints, or in one line why it printed nothing: for people. */
export async function printedBy(program: string, args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const call = [program, ...args].join(' ');
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const late = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MOST_BYTES) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, MOST_COMPLAINT);
  });
  child.on('error', (error) => resolve(`# cannot start ${call}: ${error.message}\n`));
  child.on('close', (exitCode) => {
    const text = Buffer.concat(chunks).toString('utf8');
    if (exitCode === 0) resolve(text);
    else resolve(`${text}\n# ${call} ended with ${exitCode}: ${complaint.trim()}\n`);
  });
  return await promise.finally(() => clearTimeout(late));
}
