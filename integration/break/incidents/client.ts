import type net from 'node:net';
import { dnsQuery } from '../../../conformance/questions/dns-message.ts';
import { dialTcp, dialUdp, type Origin } from '../../../lab/host/sockets.ts';
import type { Got, Question } from './question.ts';

/** A SYN that is lost once is sent again after a second. */
const SILENCE_MS = 1_600;
const USUAL_TIMES = 3;
const USUAL_ANSWERERS = /^web-/;
const REFUSALS = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM'];
const QUERY_ID = 4711;

/** What real connections get, all of them opened at once. */
export async function askAll(question: Question, origin: Origin): Promise<Got[]> {
  const times = question.times ?? USUAL_TIMES;
  return await Promise.all(Array.from({ length: times }, () => askOnce(question, origin)));
}

async function askOnce(question: Question, origin: Origin): Promise<Got> {
  const { to, isUdp } = destinationOf(question.to);
  const from = {
    ...origin,
    ...(question.sourcePort === undefined ? {} : { sourcePort: question.sourcePort }),
    ...(question.sourceAddress === undefined ? {} : { sourceAddress: question.sourceAddress }),
  };
  return isUdp ? await askUdp(question, from, to) : await askTcp(question, dialTcp(from, to));
}

/** Reads `ADDRESS:PORT` and `ADDRESS:PORT/udp`. */
function destinationOf(text: string): {
  readonly to: { readonly address: string; readonly port: number };
  readonly isUdp: boolean;
} {
  const [, address = '', port] = /^(.+):(\d+)(?:\/udp)?$/.exec(text) ?? [];
  return { to: { address, port: Number(port) }, isUdp: text.endsWith('/udp') };
}

async function askTcp(question: Question, socket: net.Socket): Promise<Got> {
  const { promise, resolve } = Promise.withResolvers<Got>();
  let text = '';
  let isConnected = false;
  const timer = setTimeout(
    () => resolve(isConnected ? 'accepted, then silent' : 'timed out'),
    SILENCE_MS,
  );
  socket.setEncoding('latin1');
  socket.on('connect', () => {
    isConnected = true;
    socket.write(requestOf(question.bytes ?? 0));
  });
  socket.on('data', (more: string) => {
    text += more;
    const name = hostnameIn(text);
    if (name !== undefined) resolve(answererOf(question, name));
  });
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(failureOf(error)));
  socket.on('close', () => resolve('refused'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** The name comes after the echo, so that large packets have gone both ways. */
function requestOf(bytes: number): string {
  const echo = 'x'.repeat(bytes);
  const head = 'HTTP/1.1\r\nHost: incidents\r\n';
  const large = bytes === 0 ? '' : `POST /echo ${head}Content-Length: ${bytes}\r\n\r\n${echo}`;
  return `${large}GET /hostname ${head}\r\n`;
}

function hostnameIn(text: string): string | undefined {
  const bodies: string[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, end))?.[1]);
    if (end < 0 || rest.length < end + 4 + length) break;
    bodies.push(rest.slice(end + 4, end + 4 + length));
    rest = rest.slice(end + 4 + length);
  }
  return bodies.findLast((body) => !body.startsWith('xx'));
}

async function askUdp(
  question: Question,
  origin: Origin,
  to: { readonly address: string; readonly port: number },
): Promise<Got> {
  const socket = await dialUdp(origin, to);
  const { promise, resolve } = Promise.withResolvers<Got>();
  const timer = setTimeout(() => resolve('timed out'), SILENCE_MS);
  socket.on('message', (message) =>
    resolve(question.asksName ? 'answered' : answererOf(question, message.toString('latin1'))),
  );
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(failureOf(error)));
  socket.send(question.asksName ? dnsQuery(QUERY_ID, 'web.shop.svc', 'ipv4') : 'hostname');
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

function answererOf({ answeredBy = USUAL_ANSWERERS }: Question, name: string): Got {
  return answeredBy.test(name) ? 'answered' : 'answered by another';
}

function failureOf(error: NodeJS.ErrnoException): Got {
  if (error.code === 'ETIMEDOUT') return 'timed out';
  if (REFUSALS.includes(error.code ?? '')) return 'refused';
  throw error;
}
