import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type net from 'node:net';
import { rejection } from '../../../cluster/api-rejection.ts';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import { parseJson } from '../../../cluster/json.ts';
import type { Secret } from '../../../cluster/secret.ts';
import { readStatus } from '../../../cluster/watch-event.ts';

/** Offered by API servers since 1.31; 1.30 needs the feature gate PortForwardWebsockets. */
const SUBPROTOCOL = 'SPDY/3.1+portforward.k8s.io';
/** RFC 6455, section 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const SWITCHING_PROTOCOLS = 101;
const MOST_HEAD_BYTES = 64 * 1024;
const MOST_BODY_BYTES = 64 * 1024;

export interface Upgrade {
  readonly server: URL;
  readonly pod: PodName;
  readonly token: Secret | undefined;
  readonly userAgent: string;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Makes the socket a WebSocket to a pod's port-forward. Resolves with bytes that came after the answer. */
export async function upgrade(
  socket: net.Socket,
  request: Upgrade,
  signal: AbortSignal,
): Promise<Buffer> {
  const key = randomBytes(16).toString('base64');
  socket.write(requestHead(request, key));
  const answer = await readHead(socket, signal);
  if (answer.status !== SWITCHING_PROTOCOLS) {
    throw rejected(request, answer.status, await readBody(socket, answer, signal));
  }
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  const protocol = answer.headers.get('sec-websocket-protocol');
  if (answer.headers.get('sec-websocket-accept') !== accept || protocol !== SUBPROTOCOL) {
    throw notOffered(request);
  }
  return answer.rest;
}

function requestHead({ server, pod, token, userAgent }: Upgrade, key: string): string {
  const prefix = server.pathname.replace(/\/$/, '');
  const place = `namespaces/${encodeURIComponent(pod.namespace)}/pods/${encodeURIComponent(pod.name)}`;
  return [
    `GET ${prefix}/api/v1/${place}/portforward HTTP/1.1`,
    `Host: ${server.host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
    `User-Agent: ${userAgent}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token.reveal()}`]),
    '',
    '',
  ].join('\r\n');
}

interface AnswerHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly rest: Buffer;
}

async function readHead(socket: net.Socket, signal: AbortSignal): Promise<AnswerHead> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    bytes = Buffer.concat([bytes, await nextChunk(socket, signal)]);
    const end = bytes.indexOf('\r\n\r\n');
    if (end >= 0) return parseHead(bytes.toString('latin1', 0, end), bytes.subarray(end + 4));
    if (bytes.length > MOST_HEAD_BYTES) throw notHttp();
  }
}

function parseHead(text: string, rest: Buffer): AnswerHead {
  const [first = '', ...lines] = text.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
  if (status === undefined) throw notHttp();
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers, rest };
}

/** The body of a rejection; what is missing of it does not change the status. */
async function readBody(
  socket: net.Socket,
  { headers, rest }: AnswerHead,
  signal: AbortSignal,
): Promise<string> {
  const length = Math.min(Number(headers.get('content-length') ?? 0) || 0, MOST_BODY_BYTES);
  let body = rest;
  while (body.length < length) {
    const chunk = await nextChunk(socket, signal, 'or its end');
    if (chunk.length === 0) break;
    body = Buffer.concat([body, chunk]);
  }
  return body.toString('utf8');
}

/** The socket is paused again when it resolves. Empty: the end, if that is expected. */
async function nextChunk(
  socket: net.Socket,
  signal: AbortSignal,
  end?: 'or its end',
): Promise<Buffer> {
  for (;;) {
    const chunk = socket.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (socket.readableEnded || socket.destroyed) {
      if (end) return Buffer.alloc(0);
      throw lost(socket.errored);
    }
    const settled = new AbortController();
    const until = { signal: AbortSignal.any([signal, settled.signal]) };
    const events = ['readable', 'end', 'close'].map((name) => once(socket, name, until));
    await Promise.race(events).finally(() => settled.abort());
  }
}

function rejected({ pod, server }: Upgrade, status: number, body: string): ClusterError {
  const what = `port-forward to pod ${pod.namespace}/${pod.name}`;
  const told = readStatus(parseJson(body)?.value);
  if (status === 400 && told.code === 0) return notOffered({ server });
  const right = `grant get and create on pods/portforward in namespace ${pod.namespace}; docs/shell.md has a Role`;
  return rejection(what, { ...told, code: status }, right);
}

function notOffered({ server }: Pick<Upgrade, 'server'>): ClusterError {
  const message = `${server.host} does not offer port-forward over WebSocket`;
  return new ClusterError('CLUSTER_NO_WEBSOCKET', message, {
    next: 'use Kubernetes 1.31 or later; a load balancer in front of the API server must pass WebSockets through',
  });
}

function notHttp(): ClusterError {
  return new ClusterError('CLUSTER_MALFORMED', 'the API server does not answer in HTTP/1.1', {
    next: 'check the server address in the kubeconfig',
  });
}

function lost(cause: unknown): ClusterError {
  const message = 'the API server closed the connection before port-forward began';
  return new ClusterError('CLUSTER_CONNECTION_LOST', message, {
    next: "retry; if it persists, check the API server's log",
    ...(cause === null ? {} : { cause }),
  });
}
