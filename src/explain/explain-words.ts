import type { Destination } from '../forwarding/answer/destination.ts';
import { endpointKey } from '../forwarding/endpoints.ts';
import {
  type Forwarding,
  type Frontend,
  type Protocol,
  type SourceClass,
  servicePortName,
} from '../forwarding/model.ts';
import type { AskedSource } from './explanation.ts';

/** `10.96.0.10:80`, `10.96.0.10:53/udp`, `node port 30080`. */
export function frontendName(frontend: Frontend, protocol: Protocol): string {
  const where =
    frontend.kind === 'node-port' ? `node port ${frontend.port}` : endpointKey(frontend);
  return `${where}${protocolSuffix(protocol)}`;
}

export function destinationName(to: Destination): string {
  return `${endpointKey(to)}${protocolSuffix(to.protocol)}`;
}

function protocolSuffix(protocol: Protocol): string {
  return protocol === 'TCP' ? '' : `/${protocol.toLowerCase()}`;
}

/** `shop/web:http (10.96.0.10:80)`. */
export function serviceAt({ id }: Forwarding, frontend: Frontend): string {
  return `${servicePortName(id)} (${frontendName(frontend, id.protocol)})`;
}

/** Who asks, as the subject of a sentence. */
export function subjectOf(
  { pod, address, class: sourceClass }: AskedSource,
  isNamed: boolean,
): string {
  if (pod !== undefined) return `pod ${pod}`;
  if (isNamed && address !== undefined) return address;
  return CLASS_NAME[sourceClass];
}

export const CLASS_NAME: Readonly<Record<SourceClass, string>> = {
  pod: 'a pod of this node',
  host: 'this node',
  outside: 'a client outside',
};

export function countText(count: number, singular: string): string {
  return `${count.toLocaleString('en-US')} ${singular}${count === 1 ? '' : 's'}`;
}
