import http from 'node:http';
import type { HistoryPage, HistoryRequest } from '../history/history-page.ts';
import type { AgentNode } from './agent-node.ts';
import { historyPath } from './path-part.ts';
import { type RowPage, type RowRequest, rowPath } from './row-pages.ts';
import { JoinedRows, type PagedRow } from './row-parts.ts';
import { ServerError, systemCodeOf } from './server-error.ts';
import { STATUS_SOCKET_PATH } from './status-socket.ts';

export interface StatusRequest {
  /** Path of the status socket. */
  readonly socketPath?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const OK = 200;
const MOST_LOSSES = 3;

/** Reads the status of the agent. Throws ServerError. */
export async function readStatus(request: StatusRequest = {}): Promise<unknown> {
  return await ask('/status', request);
}

/** Reads the connection counters of the kernel. Throws ServerError. */
export async function readCounters(request: StatusRequest = {}): Promise<unknown> {
  return await ask('/counters', request);
}

/** Reads which node the agent serves, and its configuration. Throws ServerError. */
export async function readNode(request: StatusRequest = {}): Promise<AgentNode> {
  return (await ask('/node', request)) as AgentNode;
}

export interface RowsRequest extends StatusRequest {
  /** `namespace/name`; default: all. */
  readonly service?: string;
  readonly withCandidates?: boolean;
}

/**
 * Reads the desired rows. Each row is consistent; rows may change between pages. Throws
 * ServerError.
 */
export async function readRows(request: RowsRequest = {}): Promise<PagedRow[]> {
  const { service, withCandidates = false } = request;
  const rows = new JoinedRows();
  let losses = 0;
  let current = service;
  let wanted: RowRequest | undefined =
    service === undefined ? { withCandidates } : { ofService: service, withCandidates };
  while (wanted !== undefined) {
    const page = (await ask(rowPath(wanted), request)) as RowPage;
    if (page.isLost === true && current !== undefined) {
      // Many others read large Services at the same time.
      if (losses++ === MOST_LOSSES) throw malformed('the agent lost the rows that it was sending');
      rows.drop(current);
      wanted = { ofService: current, withCandidates };
      continue;
    }
    for (const row of page.rows) rows.add(row);
    current = 'ofService' in wanted ? wanted.ofService : page.lastService;
    if (page.rest !== undefined) wanted = { rest: page.rest, withCandidates };
    else if (service !== undefined || current === undefined) wanted = undefined;
    else wanted = { afterService: current, withCandidates };
  }
  return rows.all();
}

/** Reads one of `TRAFFIC_PATHS`. Throws ServerError. */
export async function readTraffic<T>(path: string, request: StatusRequest = {}): Promise<T> {
  return (await ask(path, request)) as T;
}

/** Reads one page of the history. Throws ServerError. */
export async function readHistory(
  wanted: HistoryRequest,
  request: StatusRequest = {},
): Promise<HistoryPage> {
  return (await ask(historyPath(wanted), request)) as HistoryPage;
}

async function ask(path: string, request: StatusRequest): Promise<unknown> {
  const socketPath = request.socketPath ?? STATUS_SOCKET_PATH;
  const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
  const late = AbortSignal.timeout(timeoutMs);
  let text: string;
  try {
    text = await get(path, socketPath, late);
  } catch (error) {
    if (error instanceof ServerError) throw error;
    if (late.aborted) throw lateError(timeoutMs, error);
    throw unreachable(socketPath, error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed(`the response from ${socketPath} is not JSON`, error);
  }
}

async function get(path: string, socketPath: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const request = http.get({ path, socketPath, signal, agent: false }, resolve);
  request.on('error', reject);
  const response = await promise;
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  if (response.statusCode !== OK) {
    throw malformed(`${socketPath} responded ${response.statusCode} to GET ${path}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unreachable(socketPath: string, cause: unknown): ServerError {
  const code = systemCodeOf(cause) ?? 'unknown reason';
  const next =
    code === 'EACCES' || code === 'EPERM'
      ? 'only root can read the status socket: run the command with sudo'
      : 'check that `fairlead run` runs on this machine; if it uses another --run-folder, pass the same one';
  return new ServerError(
    'STATUS_UNREACHABLE',
    `cannot connect to the agent at ${socketPath}: ${code}`,
    {
      next,
      cause,
    },
  );
}

function lateError(timeoutMs: number, cause: unknown): ServerError {
  return new ServerError('STATUS_TIMEOUT', `no response from the agent within ${timeoutMs} ms`, {
    next: 'the agent is busy or stopped: check its CPU usage and its log',
    cause,
  });
}

function malformed(message: string, cause?: unknown): ServerError {
  return new ServerError('STATUS_MALFORMED', message, {
    next: 'check that the agent and this command are the same version of Fairlead',
    cause,
  });
}
