import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program of a test in its namespaces, which may end by itself. */
export interface ChildProgram {
  readonly ended: Promise<unknown>;
  /** What it wrote to its standard error so far. */
  log(): string;
  hasEnded(): boolean;
  send(signal: NodeJS.Signals): void;
}

/** Resolves when it has started. */
export async function startChild(argv: readonly [string, ...string[]]): Promise<ChildProgram> {
  const [command, ...args] = argv;
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = once(child, 'exit');
  await once(child, 'spawn');
  return {
    ended,
    log: () => log,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    send: (signal) => void child.kill(signal),
  };
}
