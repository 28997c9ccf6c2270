import { randomInt } from 'node:crypto';
import dgram from 'node:dgram';
import net from 'node:net';
import {
  type AddressType,
  type DnsAnswer,
  type DnsQuestion,
  decodeAnswer,
  encodeQuestion,
} from './dns-message.ts';

const DEADLINE_MS = 2_000;
const DNS_PORT = 53;

export interface DnsRequest {
  readonly server: string;
  readonly port?: number;
  readonly name: string;
  readonly type: AddressType;
  readonly transport: 'UDP' | 'TCP';
}

/** Asks one server, not the resolver of this machine. Undefined: no answer within the deadline. */
export async function askDns(
  request: DnsRequest,
  signal: AbortSignal,
): Promise<DnsAnswer | undefined> {
  const { name, type } = request;
  const question = { id: randomInt(65_536), name, type };
  const late = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
  const { promise, resolve } = Promise.withResolvers<DnsAnswer | undefined>();
  const giveUp = (): void => resolve(undefined);
  late.addEventListener('abort', giveUp, { once: true });
  const send = request.transport === 'UDP' ? sendUdp : sendTcp;
  const close = send(request, question, resolve);
  try {
    return await promise;
  } finally {
    late.removeEventListener('abort', giveUp);
    close();
  }
}

type Tell = (answer: DnsAnswer | undefined) => void;

function sendUdp(request: DnsRequest, question: DnsQuestion, tell: Tell): () => void {
  const socket = dgram.createSocket(request.server.includes(':') ? 'udp6' : 'udp4');
  socket.on('error', () => tell(undefined));
  socket.on('message', (bytes) => {
    const answer = decodeAnswer(bytes, question);
    if (answer !== undefined) tell(answer);
  });
  // Connected: only the server can answer, and its ICMP errors arrive.
  socket.connect(request.port ?? DNS_PORT, request.server, () => {
    socket.send(encodeQuestion(question));
  });
  return () => socket.close();
}

/** Over TCP each message has its length before it. */
function sendTcp(request: DnsRequest, question: DnsQuestion, tell: Tell): () => void {
  const socket = net.connect({ host: request.server, port: request.port ?? DNS_PORT });
  let received = Buffer.alloc(0);
  socket.on('error', () => tell(undefined));
  socket.on('end', () => tell(undefined));
  socket.on('connect', () => {
    const bytes = encodeQuestion(question);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    socket.write(Buffer.concat([length, bytes]));
  });
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
    tell(decodeAnswer(received.subarray(2), question));
  });
  return () => socket.destroy();
}
