import { spawn } from 'node:child_process';

export interface DetachedCall {
  readonly command: string;
  readonly args: readonly string[];
  /** They become 3, 4, … of the process, and stay open here. */
  readonly descriptors: readonly number[];
}

export interface DetachedProcess {
  readonly pid: number;
  /** Resolves with the exit code or the signal, as long as this process lives. */
  readonly ended: Promise<string>;
}

/**
 * Starts a program in a session of its own, so that it outlives this process. Its output goes where
 * ours goes. Rejects when it cannot be started.
 */
export async function startDetached(call: DetachedCall): Promise<DetachedProcess> {
  // The service manager hears of our state, not of its.
  const { NOTIFY_SOCKET: _, WATCHDOG_USEC: __, ...env } = process.env;
  const child = spawn(call.command, call.args, {
    detached: true,
    cwd: '/',
    env,
    stdio: ['ignore', 'inherit', 'inherit', ...call.descriptors],
  });
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  child.once('spawn', () => started.resolve());
  child.on('error', (error) => started.reject(error));
  child.once('exit', (code, signal) => ended.resolve(signal ?? `exit code ${code}`));
  child.unref();
  await started.promise;
  return { pid: child.pid ?? 0, ended: ended.promise };
}
