import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startDetached } from '../../../linux/start-detached.ts';
import { sleep } from '../../../time/sleep.ts';
import { forwarderError } from './forwarder-error.ts';
import type { ForwarderArguments, HeldListener } from './forwarder-protocol.ts';
import { newSockets } from './run-files.ts';
import { meet, type RunningForwarder } from './running.ts';

/** The forwarder's program, and its digest. */
export interface ForwarderProgram {
  readonly path: string;
  readonly digest: string;
}

const DIGEST_CHARACTERS = 16;
/** Node and its threads take a second on a busy machine. */
const START_MS = 20_000;
const POLL_MS = 20;
const FIRST_DESCRIPTOR = 3;

/** The first of these paths that exists. */
export function readProgram(paths: readonly string[]): ForwarderProgram {
  for (const path of paths) {
    const bytes = readIfThere(path);
    if (bytes === undefined) continue;
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { path, digest: digest.slice(0, DIGEST_CHARACTERS) };
  }
  throw forwarderError(
    'FORWARDER_MISSING',
    `the program of the forwarder was not found: ${paths.join(', ')}`,
    { next: 'reinstall the package, or use mode nftables' },
  );
}

/** Starts a forwarder that has no rows yet. It ends by itself if this process does not go on. */
export async function startForwarder(
  program: string,
  start: ForwarderArguments,
): Promise<RunningForwarder> {
  const inherited = start.listeners.map((each, index) => ({
    ...each,
    fd: FIRST_DESCRIPTOR + index,
  }));
  const given: ForwarderArguments = { ...start, listeners: inherited };
  const { pid, ended } = await started([program, JSON.stringify(given)], start.listeners);
  const over = new AbortController();
  let end: string | undefined;
  void ended.then((how) => {
    end = how;
    over.abort();
  });
  const deadlineMs = performance.now() + START_MS;
  const sockets = newSockets(start.runFolder, pid);
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

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
