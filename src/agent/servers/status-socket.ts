import { mkdir, stat, unlink } from 'node:fs/promises';
import net from 'node:net';
import { dirname } from 'node:path';
import type { AgentNode } from './agent-node.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { openHttpServer } from './http.ts';
import { keepServing } from './keep-serving.ts';
import type { OpenServer } from './open-server.ts';
import { type Handler, jsonReply, type Reply, routes } from './reply.ts';
import { parseRowPath, type RowPage, type RowRequest } from './row-pages.ts';
import { type ServerProblemListener, systemCodeOf } from './server-error.ts';

export const STATUS_SOCKET_PATH = '/run/fairlead/status.sock';

export interface StatusSocketOptions {
  readonly path?: string;
  /** The state of the agent, as data. */
  readonly snapshot: () => unknown;
  /** What the kernel has counted, asked for anew each time. */
  readonly counters: () => Promise<unknown>;
  /** Which node it serves and with what configuration. */
  readonly node: () => AgentNode;
  /** What it wants the kernel to have, page by page. */
  readonly rows: (request: RowRequest) => RowPage;
  readonly onProblem: ServerProblemListener;
  readonly onOpen?: (server: OpenServer) => void;
}

const OK = 200;
const RETRY_MS = 5_000;
const FOLDER_MODE = 0o755;
/** Its own, so that no client on the network takes it; all of its clients are one source. */
const LIMITS = { total: 64, perSource: 64, unreadBytes: 64 * 1024 * 1024 };

/** Answers the commands on this machine, for root alone; the socket is removed at the end. */
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
  const handler: Handler = (path) => {
    const request = parseRowPath(path);
    return request === undefined ? byPath(path) : dataReply(options.rows(request));
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

/** Left behind by a process that ended without goodbye. What is no socket is not ours to remove. */
async function isStaleSocket(path: string, signal: AbortSignal): Promise<boolean> {
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
  // Connecting to a unix socket is answered by the kernel, at once.
  const socket = net.connect({ path, signal });
  socket.on('connect', () => resolve(true));
  socket.on('error', (error) => {
    if (systemCodeOf(error) === 'ECONNREFUSED') resolve(false);
    else reject(error);
  });
  return await promise.finally(() => socket.destroy());
}
