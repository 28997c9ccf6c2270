import { startDetached } from '../../../linux/start-detached.ts';
import { sleep } from '../../../time/sleep.ts';
import { forwarderError } from './forwarder-error.ts';
import type { HeldListener } from './listeners.ts';
import type { ForwarderProgram } from './program.ts';
import { newSockets } from './run-files.ts';
import { meet, type RunningForwarder } from './running.ts';
import { argumentsText } from './start-arguments.ts';

export interface ForwarderStart {
  readonly runFolder: string;
  readonly program: ForwarderProgram;
  readonly build: string;
  readonly threadCount: number;
  readonly returnMark: number;
  readonly listeners: readonly HeldListener[];
}

/** Node and its threads take a second on a busy machine. */
const START_MS = 20_000;
const POLL_MS = 20;
const FIRST_DESCRIPTOR = 3;

/** Starts a forwarder that has no rows yet. It ends by itself if this process does not go on. */
export async function startForwarder(start: ForwarderStart): Promise<RunningForwarder> {
  const { runFolder, program, listeners } = start;
  const text = argumentsText({
    runFolder,
    build: start.build,
    threadCount: start.threadCount,
    returnMark: start.returnMark,
    listeners: listeners.map(({ source, isIPv6 }, index) => ({
      fd: FIRST_DESCRIPTOR + index,
      source,
      isIPv6,
    })),
  });
  const { pid, ended } = await started([program.path, text], listeners);
  const over = new AbortController();
  let end: string | undefined;
  void ended.then((how) => {
    end = how;
    over.abort();
  });
  const deadlineMs = performance.now() + START_MS;
  const sockets = newSockets(runFolder, pid);
  while (end === undefined && performance.now() < deadlineMs) {
    const running = await meet(sockets);
    if (running !== undefined) return { ...running, pid, exit: () => end };
    await sleep(POLL_MS, over.signal);
  }
  if (end === undefined) process.kill(pid, 'SIGKILL');
  const why = end === undefined ? `did not answer within ${START_MS / 1000} s` : `ended: ${end}`;
  throw forwarderError('FORWARDER_NOT_STARTED', `the forwarder ${why}`, {
    next: 'its messages are in the log of the agent',
  });
}

async function started(args: readonly string[], listeners: readonly HeldListener[]) {
  const descriptors = listeners.map(({ fd }) => fd);
  try {
    return await startDetached({ command: process.execPath, args, descriptors });
  } catch (cause) {
    const message = `the forwarder cannot be started: ${String(cause)}`;
    throw forwarderError('FORWARDER_NOT_STARTED', message, { cause });
  }
}
