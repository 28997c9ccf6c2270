import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface InheritedCall {
  readonly command: string;
  readonly args: readonly string[];
}

export interface InheritedProcess {
  readonly pid: number;
  /** The exit code; 128 and the number for a signal, as shells count. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

const BY_SIGNAL = 128;

/** Starts a program at our own terminal: input, output and signals of the keyboard are its. */
export async function startInherited(call: InheritedCall): Promise<InheritedProcess> {
  const child = spawn(call.command, call.args, { stdio: 'inherit' });
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<number>();
  child.once('spawn', () => started.resolve());
  child.on('error', (error) => started.reject(error));
  child.once('exit', (code, signal) => {
    ended.resolve(code ?? BY_SIGNAL + constants.signals[signal ?? 'SIGKILL']);
  });
  await started.promise;
  return { pid: child.pid ?? 0, ended: ended.promise, kill: (signal) => void child.kill(signal) };
}
