import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { LabError } from './errors.ts';
import { enterNamespace } from './namespaces.ts';
import { until } from './until.ts';

export interface DaemonOptions {
  readonly name: string;
  readonly namespacePath: string;
  readonly argv: readonly [string, ...string[]];
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that outlives the command that started it and ends with its namespace. */
export interface Daemon {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** The exit code or signal, once it has ended. */
  ended(): string | undefined;
  /** Sends SIGTERM, then SIGKILL. Resolves when it has exited. */
  stop(): Promise<void>;
  /** Kills it, as a crash would. Resolves when it has exited. */
  kill(): Promise<void>;
  /** Starts it again with the same arguments, once it has ended. */
  startAgain(): void;
  freeze(): void;
  thaw(): void;
}

const STOP_GRACE_MS = 5_000;
/** A killed process exits when it is next scheduled, which may be late on a busy machine. */
const KILL_DEADLINE_MS = 30_000;

export function startDaemon(options: DaemonOptions): Daemon {
  let running = spawnDetached(options);
  const what = `${options.name} to end`;
  const hasEnded = (): boolean => running.ended() !== undefined;
  const signal = (name: NodeJS.Signals): void => {
    if (!hasEnded()) process.kill(running.pid, name);
  };
  const kill = async (): Promise<void> => {
    signal('SIGKILL');
    await until(hasEnded, { what, deadlineMs: KILL_DEADLINE_MS });
  };
  return {
    name: options.name,
    get pid() {
      return running.pid;
    },
    logFile: options.logFile,
    ended: () => running.ended(),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    stop: async () => {
      signal('SIGCONT');
      signal('SIGTERM');
      await until(hasEnded, { what, deadlineMs: STOP_GRACE_MS }).catch(kill);
    },
    kill,
    startAgain: () => {
      if (!hasEnded()) {
        throw new LabError('LAB_USAGE', `${options.name} is still running`, {
          next: 'stop it first',
        });
      }
      running = spawnDetached(options);
    },
  };
}

interface DetachedProcess {
  readonly pid: number;
  ended(): string | undefined;
}

function spawnDetached(options: DaemonOptions): DetachedProcess {
  const log = openSync(options.logFile, 'a');
  const [command, ...args] = enterNamespace(options.namespacePath, options.argv);
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...options.env },
  });
  closeSync(log);
  let end: string | undefined;
  child.on('error', (error) => {
    end = error.message;
  });
  child.on('exit', (code, signal) => {
    end = signal ?? `exit code ${code}`;
  });
  // The lab may be left running: neither the process nor its handle keeps this one alive.
  child.unref();
  const { pid } = child;
  if (pid === undefined) {
    throw new LabError('LAB_TOOL_MISSING', `cannot start ${options.name}: ${command}`, {
      next: 'check that util-linux (nsenter) is installed',
    });
  }
  return { pid, ended: () => end };
}

/** Fails with the tail of its log when a daemon that should run has ended. */
export async function assertRunning(daemon: Daemon): Promise<void> {
  const end = daemon.ended();
  if (end === undefined) return;
  throw new LabError(
    'LAB_PROCESS_ENDED',
    `${daemon.name} exited (${end}):\n${await tailOf(daemon.logFile)}`,
    { next: `read ${daemon.logFile}` },
  );
}

const TAIL_BYTES = 3_000;

async function tailOf(path: string): Promise<string> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const length = Math.min(size, TAIL_BYTES);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString();
}
