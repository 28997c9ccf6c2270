import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { FAMILIES, type Family, type SourceClass } from '../../../../forwarding/model.ts';
import { openNetlink } from '../../../../linux/netlink/netlink-socket.ts';
import { NETLINK_NETFILTER } from '../../../../linux/nftables/nftables-protocol.ts';
import { nameProcess } from '../../../../linux/process-name.ts';
import { listenerPort } from '../../../../linux/sockets/listener.ts';
import { raiseOpenFiles } from '../../../../linux/userspace/raise-open-files.ts';
import { portsBeside, readLocalPorts } from '../../../../linux/userspace/source-ports.ts';
import { sleep } from '../../../../time/sleep.ts';
import {
  type ForwarderArguments,
  type Hello,
  type ListenerPorts,
  PROTOCOL_VERSION,
} from '../forwarder-protocol.ts';
import { deleteListenerRoutes } from '../forwarder-routes.ts';
import { SocketNames } from '../run-files.ts';
import { ControlServer } from './control-server.ts';
import { CopyingThread, type ThreadEvents, ThreadGroup } from './copying-threads.ts';
import { Directory, type DirectoryOptions } from './forwarder-directory.ts';
import { serveHandover } from './handover-server.ts';
import { type ForwarderLog, openForwarderLog } from './log.ts';
import { ProcessLife } from './process-life.ts';
import { Requests } from './requests.ts';
import { ReturnPath } from './return-path.ts';
import { ROW_MEMORY_BYTES } from './row-memory.ts';
import { RowWriter } from './row-writer.ts';
import { openSharedClock } from './shared-clock.ts';
import { SlotTable } from './slot-table.ts';
import { countSlots, openSharedMemory } from './slots.ts';
import type { ThreadStart } from './thread-messages.ts';

/** The kernel lowers it to fs.nr_open. */
const WANTED_OPEN_FILES = 1_048_576;
/** For everything that is not a connection: listeners, epoll, control, files of Node. */
const OTHER_FILES = 256;
const FILES_PER_CONNECTION = 2;
const OWNER_ONLY_UMASK = 0o177;
const THREAD_START_MS = 10_000;
const THREAD_STOP_MS = 1_000;
const TERMINATION_DRAIN_MS = 30_000;
/** As kube-proxy has conntrack keep them (tcpCloseWaitTimeout). */
const HALF_CLOSED_MS = 3_600_000;

export interface ForwarderOptions {
  readonly arguments: ForwarderArguments;
  /** The file that the copying threads run. */
  readonly program: URL;
}

/** The main thread. Resolves when the process is about to end. */
export async function runForwarder(options: ForwarderOptions): Promise<void> {
  nameProcess('fairlead-fwd');
  // A process that can connect to its sockets can take every connection.
  process.umask(OWNER_ONLY_UMASK);
  const log = openForwarderLog();
  // In place of Node's listener, which would open a debugger to every local user.
  process.on('SIGUSR1', () => log.warn('ignored SIGUSR1: it opens no debugger'));
  const { returnMark } = options.arguments;
  const returnPath = await openedReturnPath(returnMark, log);
  const mostConnections = mostConnectionsOf(raiseOpenFiles(WANTED_OPEN_FILES));
  const stop = new AbortController();
  const nowMs = openSharedClock();
  const names = new SocketNames(options.arguments.runFolder);
  const fail = (message: string, error: unknown): void => {
    log.error(message, { error: error instanceof Error ? error.stack : String(error) });
    end(1, false).catch(() => process.kill(process.pid, 'SIGKILL'));
  };
  const { threads, directory } = startThreads(options, {
    keepsClientAddress: returnPath !== undefined,
    mostConnections,
    nowMs,
    onBroken: (error) => fail('copying thread failed', error),
  });
  const end = async (code: number, final: boolean): Promise<void> => {
    if (stop.signal.aborted) return;
    stop.abort();
    const haveEnded = await threads.stop(THREAD_STOP_MS);
    await closeReturnPath(returnPath, final);
    names.remove();
    // An exit waits for threads, even for one that hangs.
    if (haveEnded) process.exit(code);
    log.error('a copying thread did not end');
    process.kill(process.pid, 'SIGKILL');
  };
  const parts = { options, threads, directory, names, log, end, fail, nowMs, mostConnections };
  try {
    await serve({ ...parts, returnPath, signal: stop.signal });
  } catch (error) {
    fail('forwarder failed', error);
  }
}

interface Parts {
  readonly options: ForwarderOptions;
  readonly threads: ThreadGroup;
  readonly directory: Directory;
  readonly names: SocketNames;
  readonly returnPath: ReturnPath | undefined;
  readonly mostConnections: number;
  readonly log: ForwarderLog;
  readonly nowMs: () => number;
  readonly end: (code: number, final: boolean) => Promise<void>;
  readonly fail: (message: string, error: unknown) => void;
  readonly signal: AbortSignal;
}

async function serve(parts: Parts): Promise<void> {
  const { threads, names, log, returnPath, signal } = parts;
  const given = parts.options.arguments;
  const life = new ProcessLife({
    ...parts,
    clientCount: () => control.clientCount,
    keepRoutes: async () => await returnPath?.keepRoutes(),
  });
  const hello = helloOf(given, threads.threads.length);
  const requests = new Requests({ ...parts, hello, life });
  const control = new ControlServer({ answer: (request) => requests.answer(request), log });
  endOnSignals(life, parts);
  await threads.pulse(THREAD_START_MS);
  const { control: controlPath, handover: path } = names.paths;
  const { listeners } = given;
  serveHandover({ path, listeners, give: (socket) => life.give(socket), log, signal });
  await control.listen(controlPath);
  names.bound();
  await life.run(sleep);
}

type ThreadFacts = Pick<ThreadStart, 'keepsClientAddress' | 'mostConnections'> &
  Pick<DirectoryOptions, 'nowMs'> &
  Pick<ThreadEvents, 'onBroken'>;

function startThreads(
  { arguments: { threadCount, listeners }, program }: ForwarderOptions,
  { keepsClientAddress, mostConnections, nowMs, onBroken }: ThreadFacts,
): { threads: ThreadGroup; directory: Directory } {
  const memory = openSharedMemory(ROW_MEMORY_BYTES);
  const events: ThreadEvents = {
    onStick: (thread, { connection, ...question }) =>
      thread.send({ tell: 'stick', connection, slot: directory.stick(question) }),
    onBroken,
  };
  const count = Math.max(1, threadCount || availableParallelism());
  const ports = portsBeside(readLocalPorts());
  const limits = { mostConnections, halfClosedMs: HALF_CLOSED_MS, ports };
  const start = { listeners, keepsClientAddress, memory, ...limits };
  const group = Array.from(
    { length: count },
    (_, index) => new CopyingThread(index, { program, start, events }),
  );
  const threads = new ThreadGroup(group);
  const ownCounts = new Float64Array(countSlots());
  const slots = new SlotTable({
    memory,
    counts: [...group.map(({ counts }) => counts), ownCounts],
  });
  const writer = new RowWriter(memory.rows);
  writer.seed(randomBytes(4).readInt32LE());
  const onGone = (gone: readonly number[]): void => threads.gone(gone);
  const directory = new Directory({ memory: memory.rows, writer, slots, nowMs, onGone });
  return { threads, directory };
}

/** Undefined: the kernel rejects what it needs, and every endpoint sees an address of this machine. */
async function openedReturnPath(mark: number, log: ForwarderLog): Promise<ReturnPath | undefined> {
  try {
    return await ReturnPath.open(openNetlink({ protocol: NETLINK_NETFILTER }), mark);
  } catch (error) {
    log.warn("clients' addresses cannot be kept", { error: String(error) });
    return undefined;
  }
}

/** After a final drain no forwarder needs the routes. */
async function closeReturnPath(returnPath: ReturnPath | undefined, final: boolean): Promise<void> {
  if (final) {
    await returnPath?.deleteRoutes();
    await deleteListenerRoutes();
  }
  returnPath?.[Symbol.dispose]();
}

function endOnSignals(life: ProcessLife, { log, fail }: Parts): void {
  process.on('uncaughtException', (error) => fail('forwarder failed', error));
  process.on('unhandledRejection', (error) => fail('forwarder failed', error));
  // It outlives the terminal and the session of the agent that started it.
  process.on('SIGHUP', () => undefined);
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      log.info('draining', { deadlineMs: TERMINATION_DRAIN_MS });
      const drained = life.drain(TERMINATION_DRAIN_MS, false);
      drained.catch((error: unknown) => fail('forwarder cannot drain', error));
    });
  }
}

function mostConnectionsOf(openFiles: number): number {
  return Math.max(1, Math.floor((openFiles - OTHER_FILES) / FILES_PER_CONNECTION));
}

function helloOf({ build, listeners }: ForwarderArguments, threadCount: number): Hello {
  const ports: Record<Family, ListenerPorts | null> = { IPv4: null, IPv6: null };
  for (const family of FAMILIES) {
    const ofFamily = listeners.filter(({ isIPv6 }) => isIPv6 === (family === 'IPv6'));
    if (ofFamily.length === 0) continue;
    const entries = ofFamily.map(({ source, fd }) => [source, listenerPort(fd)] as const);
    ports[family] = Object.fromEntries(entries) as Record<SourceClass, number>;
  }
  const { pid } = process;
  return { version: PROTOCOL_VERSION, build, pid, threadCount, ports: ports as Hello['ports'] };
}
