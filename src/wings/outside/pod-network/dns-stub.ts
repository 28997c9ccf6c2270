import dgram from 'node:dgram';
import { once } from 'node:events';
import { parseIp } from '../../../addresses/ip.ts';
import type { ListenAddress } from '../../../config/network-text.ts';
import { type Response, readQuestion, TYPE_A, TYPE_AAAA, writeResponse } from './dns-message.ts';

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
