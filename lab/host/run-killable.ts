import { spawn } from 'node:child_process';

/**
 * Runs a command in a process group of its own, with this process's output, and kills the whole group
 * when the signal is aborted or its time is over. Gives false if it had to be killed.
 */
export async function runKillable(
  argv: readonly [string, ...string[]],
  of: {
    readonly env: Readonly<Record<string, string>>;
    readonly input: 'none' | 'terminal';
    readonly deadlineMs: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<boolean> {
  const [command, ...args] = argv;
  const deadline = AbortSignal.timeout(of.deadlineMs);
  const end = of.signal ? AbortSignal.any([of.signal, deadline]) : deadline;
  const isInteractive = of.input === 'terminal';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(command, args, {
    stdio: [isInteractive ? 'inherit' : 'ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...of.env },
    // A terminal is read by its foreground group only.
    detached: !isInteractive,
  });
  const kill = (): void => {
    if (child.pid === undefined || child.exitCode !== null) return;
    if (isInteractive) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  };
  end.addEventListener('abort', kill, { once: true });
  child.on('error', reject);
  child.on('close', () => resolve());
  try {
    await promise;
  } finally {
    end.removeEventListener('abort', kill);
  }
  return !end.aborted;
}
