import dgram from 'node:dgram';
import { once } from 'node:events';
import { parseIp } from '../../../addresses/ip.ts';
import type { ListenAddress } from '../../../config/network-text.ts';

/** What the stub answers from: `PodDirectory`. */
export interface ServiceNames {
  service(name: string): readonly string[] | undefined;
  hasNamespace(namespace: string): boolean;
}

const NO_SUCH_NAME: Response = { code: 'NXDOMAIN', addresses: [] };
const NO_SUCH_RECORD: Response = { code: 'NOERROR', addresses: [] };
const NOT_HERE: Response = { code: 'REFUSED', addresses: [] };

/**
 * The answer to a name: addresses of `SERVICE.NAMESPACE.svc.DOMAIN`. Names outside of the domain are
 * refused, after which a resolver asks its next server; `….svc` without the domain is nobody's name,
 * and must not be told to other servers.
 */
export function answerTo(
  { name, type }: { readonly name: string; readonly type: number },
  { domain, names }: { readonly domain: string; readonly names: ServiceNames },
): Response {
  if (name === 'svc' || name.endsWith('.svc')) return NO_SUCH_NAME;
  const suffix = `.${domain}`;
  if (name !== domain && !name.endsWith(suffix)) return NOT_HERE;
  const labels = name.slice(0, -suffix.length).split('.');
  if (name === domain || labels.at(-1) !== 'svc')
    return name === domain ? NO_SUCH_RECORD : NO_SUCH_NAME;
  const [service, namespace] = labels;
  if (labels.length === 1) return NO_SUCH_RECORD;
  if (labels.length === 2) return names.hasNamespace(service ?? '') ? NO_SUCH_RECORD : NO_SUCH_NAME;
  const addresses = labels.length === 3 ? names.service(`${namespace}/${service}`) : undefined;
  if (addresses === undefined) return NO_SUCH_NAME;
  const version = type === TYPE_A ? 4 : type === TYPE_AAAA ? 6 : undefined;
  const parsed = addresses.map(parseIp).filter((address) => address?.version === version);
  return {
    code: 'NOERROR',
    addresses: parsed.flatMap((address) => (address ? [address.bytes] : [])),
  };
}

export interface DnsStubOptions {
  readonly address: ListenAddress;
  readonly domain: string;
  readonly names: ServiceNames;
}

/** Answers names of Services over UDP until the signal is aborted. */
export async function runDnsStub(options: DnsStubOptions, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { ip, port } = options.address;
  const socket = dgram.createSocket({ type: ip.includes(':') ? 'udp6' : 'udp4', signal });
  socket.on('message', (query, peer) => {
    const question = readQuestion(query);
    if (question === undefined) return;
    const response = writeResponse(query, question, answerTo(question, options));
    // The client may be gone: it asks again if it is not.
    socket.send(response, peer.port, peer.address, () => undefined);
  });
  socket.bind(port, ip);
  await once(socket, 'close');
}

/** Questions and answers of DNS (RFC 1035), as far as a stub for Services needs them. */
export const TYPE_A = 1;
export const TYPE_AAAA = 28;
const CLASS_IN = 1;
const HEAD_BYTES = 12;
const QUESTION_COUNT_AT = 4;
const MOST_NAME_BYTES = 255;
/** Seconds: as CoreDNS answers for Services by default. */
const TTL_SECONDS = 5;
/** The name at the beginning of the question. */
const NAME_OF_QUESTION = [0xc0, HEAD_BYTES];

type ResponseCode = 'NOERROR' | 'NXDOMAIN' | 'REFUSED';

const CODES: Readonly<Record<ResponseCode, number>> = { NOERROR: 0, NXDOMAIN: 3, REFUSED: 5 };

interface Question {
  /** In lower case, without the final dot. */
  readonly name: string;
  readonly type: number;
  /** Of the question in the message. */
  readonly endsAt: number;
}

/** Undefined: not a query with one question, which needs no answer. */
export function readQuestion(message: Buffer): Question | undefined {
  if (message.length < HEAD_BYTES) return undefined;
  const isQuery = ((message[2] ?? 0) & 0xf8) === 0;
  if (!isQuery || message.readUInt16BE(QUESTION_COUNT_AT) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (;;) {
    const length = message[at];
    // A pointer cannot be in the first name of a message.
    if (length === undefined || length > 63 || at - HEAD_BYTES > MOST_NAME_BYTES) return undefined;
    if (length === 0) break;
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  if (message.length < at + 5) return undefined;
  const type = message.readUInt16BE(at + 1);
  if (message.readUInt16BE(at + 3) !== CLASS_IN) return undefined;
  return { name: labels.join('.').toLowerCase(), type, endsAt: at + 5 };
}

interface Response {
  readonly code: ResponseCode;
  /** The bytes of addresses of the type that was asked for. */
  readonly addresses: readonly Uint8Array[];
}

export function writeResponse(query: Buffer, question: Question, response: Response): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  query.copy(head, 0, 0, 2);
  const wantsRecursion = (query[2] ?? 0) & 1;
  // A response, authoritative unless refused; recursion is available to who asks another server.
  head[2] = 0x80 | (response.code === 'REFUSED' ? 0 : 0x04) | wantsRecursion;
  head[3] = CODES[response.code];
  head.writeUInt16BE(1, QUESTION_COUNT_AT);
  head.writeUInt16BE(response.addresses.length, 6);
  const answers = response.addresses.map((bytes) => {
    const record = Buffer.alloc(12 + bytes.length);
    record.set(NAME_OF_QUESTION, 0);
    record.writeUInt16BE(question.type, 2);
    record.writeUInt16BE(CLASS_IN, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(bytes.length, 10);
    record.set(bytes, 12);
    return record;
  });
  return Buffer.concat([head, query.subarray(HEAD_BYTES, question.endsAt), ...answers]);
}
