import { endpointKey } from '../forwarding/endpoints.ts';
import { servicePortKey } from '../forwarding/model.ts';
import type { NotServedFrontend } from '../forwarding/not-served.ts';
import { notServedText } from '../forwarding/not-served-text.ts';

/** `external-ip 10.96.7.7:80 is not served: it is in the Service CIDR 10.96.0.0/16`. */
export function notServedLine(refused: NotServedFrontend): string {
  return `${notServedAddress(refused)} is not served: ${notServedText(refused.notServed)}`;
}

/** `external-ip 10.96.7.7:80/TCP`. */
export function notServedAddress({ row, frontend }: NotServedFrontend): string {
  const where = frontend.kind === 'node-port' ? String(frontend.port) : endpointKey(frontend);
  return `${frontend.kind} ${where}/${row.id.protocol}`;
}

export function frontendKey(refused: NotServedFrontend): string {
  return [servicePortKey(refused.row.id), notServedLine(refused)].join(' ');
}
