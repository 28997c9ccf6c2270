import { mkdir, stat, unlink } from 'node:fs/promises';
import net from 'node:net';
import { dirname } from 'node:path';
import type { HistoryPage, HistoryRequest } from '../history/history-page.ts';
import type { AgentNode } from './agent-node.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { openHttpServer } from './http.ts';
import { keepServing } from './keep-serving.ts';
import type { OpenServer } from './open-server.ts';
import { parseHistoryPath } from './path-part.ts';
import { type Handler, jsonReply, type Reply, routes } from './reply.ts';
import { parseRowPath, type RowPage, type RowRequest } from './row-pages.ts';
import { type ServerProblemListener, systemCodeOf } from './server-error.ts';
import type { TrafficPages } from './traffic-pages.ts';
import { trafficAnswer } from './traffic-routes.ts';

export const STATUS_SOCKET_PATH = '/run/fairlead/status.sock';

export interface StatusSocketOptions {
  readonly path?: string;
  /** The status as data. */
  readonly snapshot: () => unknown;
  /** Connection counters, read from the kernel on each request. */
  readonly counters: () => Promise<unknown>;
  /** Which node it serves, and its configuration. */
  readonly node: () => AgentNode;
  /** Pages of desired rows. */
  readonly rows: (request: RowRequest) => RowPage;
  /** What `fairlead top` shows; without it these paths are not found. */
  readonly traffic?: TrafficPages;
  /** Pages of the history. */
  readonly history: (request: HistoryRequest) => HistoryPage;
  readonly onProblem: ServerProblemListener;
  readonly onOpen?: (server: OpenServer) => void;
}

const OK = 200;
const RETRY_MS = 5_000;
const FOLDER_MODE = 0o755;
/**
 * A budget of its own, so that network clients cannot use it up; all its clients are one source.
 */
const LIMITS = { total: 64, perSource: 64, unreadBytes: 64 * 1024 * 1024 };

/** Serves commands on this machine, for root only; removes the socket at the end. */
export async function runStatusSocket(
  options: StatusSocketOptions,
  signal: AbortSignal,
): Promise<void> {
  const { onProblem, onOpen } = options;
  const budget = new ConnectionBudget(LIMITS);
  const socketPath = options.path ?? STATUS_SOCKET_PATH;
  const byPath = routes(
    new Map<string, Handler>([
      ['/status', async () => dataReply(await options.snapshot())],
      ['/counters', async () => dataReply(await options.counters())],
      ['/node', () => dataReply(options.node())],
    ]),
  );
  const handler: Handler = async (path) => {
    const answer = options.traffic && trafficAnswer(path, options.traffic);
    if (answer !== undefined) return dataReply(await answer());
    const rows = parseRowPath(path);
    if (rows !== undefined) return dataReply(options.rows(rows));
    const history = parseHistoryPath(path);
    return history === undefined ? await byPath(path) : dataReply(options.history(history));
  };
  await keepServing(
    {
      where: socketPath,
      open: async () => {
        await mkdir(dirname(socketPath), { recursive: true, mode: FOLDER_MODE });
        if (await isStaleSocket(socketPath, signal)) await unlink(socketPath);
        return await openHttpServer({ socketPath }, { handler, budget, onProblem });
      },
      onProblem,
      ...(onOpen === undefined ? {} : { onOpen }),
      retryAfterMs: () => RETRY_MS,
    },
    signal,
  );
}

function dataReply(data: unknown): Reply {
  return jsonReply(OK, JSON.stringify(data));
}

/** Whether it is the socket of a process that was killed. Anything but a socket is kept. */
export async function isStaleSocket(path: string, signal: AbortSignal): Promise<boolean> {
  try {
    if (!(await stat(path)).isSocket()) return false;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
  return !(await hasListener(path, signal));
}

async function hasListener(path: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  // The kernel answers a connect to a Unix socket immediately.
  const socket = net.connect({ path, signal });
  socket.on('connect', () => resolve(true));
  socket.on('error', (error) => {
    if (systemCodeOf(error) === 'ECONNREFUSED') resolve(false);
    else reject(error);
  });
  return await promise.finally(() => socket.destroy());
}
