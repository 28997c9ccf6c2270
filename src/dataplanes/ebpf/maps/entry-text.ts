import type { Protocol } from '../../../forwarding/model.ts';
import type { KernelFrontend } from '../../contract.ts';
import { FRONTEND_KEY, PROTOCOL_NUMBER, readAddress } from './layout.ts';

const ANYWHERE: readonly string[] = ['0.0.0.0', '::'];

/** `ebpf frontends { 10.96.0.10 tcp 80 }`, `{ node-port IPv4 tcp 30080 }`. */
export function frontendText(key: Buffer): string {
  const { address, protocol, port } = frontendOfKey(key);
  const family = readAddress(key, FRONTEND_KEY.address) === '::' ? 'IPv6' : 'IPv4';
  const where = address ?? `node-port ${family}`;
  return `ebpf frontends { ${where} ${protocol.toLowerCase()} ${port} }`;
}

export function frontendOfKey(key: Buffer): KernelFrontend {
  const address = readAddress(key, FRONTEND_KEY.address);
  const number = key[FRONTEND_KEY.protocol];
  const protocols = Object.entries(PROTOCOL_NUMBER) as [Protocol, number][];
  return {
    protocol: protocols.find(([, each]) => each === number)?.[0] ?? 'TCP',
    ...(ANYWHERE.includes(address) ? {} : { address }),
    port: key.readUInt16BE(FRONTEND_KEY.port),
  };
}
