import type dgram from 'node:dgram';
import { bindUdp } from '../host/sockets.ts';

export interface LanDnsOptions {
  readonly namespacePath: string;
  readonly address: string;
  /** IPv4 address that it gives for every name. */
  readonly answer: string;
  /** Names of this domain do not exist. */
  readonly unknownDomain: string;
}

/** The DNS server of a LAN, as small as can be: it has one answer, and remembers the questions. */
export interface LanDns extends AsyncDisposable {
  /** Every name that it was asked for, in order, without the dot at the end. */
  askedNames(): readonly string[];
}

const PORT = 53;
const HEADER_BYTES = 12;
const TYPE_A = 1;
const NAME_ERROR = 3;
const TTL_SECONDS = 1;

export async function startLanDns(options: LanDnsOptions): Promise<LanDns> {
  const { namespacePath: namespace, address } = options;
  const names: string[] = [];
  const socket = await bindUdp({ namespace, address, port: PORT });
  socket.on('message', (query, peer: dgram.RemoteInfo) => {
    const { name, end } = questionOf(query);
    names.push(name);
    socket.send(answerTo(query, { name, end, options }), peer.port, peer.address);
  });
  // An answer that cannot be delivered is for the client to notice.
  socket.on('error', () => undefined);
  return {
    askedNames: () => [...names],
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

interface Question {
  readonly name: string;
  /** Offset of the first byte after it. */
  readonly end: number;
}

function questionOf(query: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 + 4 };
}

function answerTo(query: Buffer, of: Question & { options: LanDnsOptions }): Buffer {
  const { name, end, options } = of;
  const isUnknown = `.${name}`.endsWith(`.${options.unknownDomain}`);
  const hasAnswer = !isUnknown && query.readUInt16BE(end - 4) === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // A response to a query with recursion, recursion available.
  header.writeUInt16BE(0x8180 | (isUnknown ? NAME_ERROR : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAnswer ? 1 : 0, 6);
  const question = query.subarray(HEADER_BYTES, end);
  return Buffer.concat(hasAnswer ? [header, question, record(options.answer)] : [header, question]);
}

/** Its name is a pointer to that of the question. */
function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt32BE(TTL_SECONDS, 6);
  bytes.writeUInt16BE(4, 10);
  for (const [index, part] of address.split('.').entries()) bytes[12 + index] = Number(part);
  return bytes;
}
