import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const DEADLINE_MS = 20_000;

/** A program of a test that runs until it is killed, in the namespaces of the test. */
export interface StartedProgram {
  /** The first it wrote to its output. */
  readonly said: string;
  kill(): void;
  readonly ended: Promise<unknown>;
}

/** Resolves when the program has written something. */
export async function startProgram(path: string, args: readonly string[]): Promise<StartedProgram> {
  const child: ChildProcess = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new TypeError('the program has no output');
  const ended = once(child, 'exit');
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const [said] = (await once(child.stdout, 'data', { signal })) as [Buffer];
  return { said: said.toString(), kill: () => void child.kill('SIGKILL'), ended };
}
