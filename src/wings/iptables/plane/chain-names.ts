import { hash as digestOf } from 'node:crypto';
import { type ServicePortId, servicePortName } from '../../../forwarding/model.ts';

/** Chains of rows. Everything in table nat that begins so is ours. */
const ROW_CHAIN_PREFIXES = [
  'KUBE-SVC-',
  'KUBE-SVL-',
  'KUBE-EXT-',
  'KUBE-FW-',
  'KUBE-SEP-',
] as const;

export const CANARY = 'KUBE-PROXY-CANARY';
export const MARK_MASQUERADE = 'KUBE-MARK-MASQ';
export const POSTROUTING = 'KUBE-POSTROUTING';
export const SERVICES = 'KUBE-SERVICES';
export const NODE_PORTS = 'KUBE-NODEPORTS';
export const EXTERNAL_SERVICES = 'KUBE-EXTERNAL-SERVICES';
export const FORWARD = 'KUBE-FORWARD';
export const PROXY_FIREWALL = 'KUBE-PROXY-FIREWALL';
/** Shared with the kubelet: rules are added, and it is never flushed or deleted. */
export const FIREWALL = 'KUBE-FIREWALL';

export const ENDPOINT_CHAIN_PREFIX = 'KUBE-SEP-';

export interface RowChainNames {
  readonly cluster: string;
  readonly local: string;
  readonly external: string;
  readonly firewall: string;
}

/** The part of a chain's name that identifies the service port. */
function rowHash(id: ServicePortId): string {
  return hash(servicePortName(id) + id.protocol.toLowerCase());
}

export function rowChainNames(id: ServicePortId): RowChainNames {
  const own = rowHash(id);
  return {
    cluster: `KUBE-SVC-${own}`,
    local: `KUBE-SVL-${own}`,
    external: `KUBE-EXT-${own}`,
    firewall: `KUBE-FW-${own}`,
  };
}

/** `endpoint` is `address:port`, IPv6 in brackets. */
export function endpointChainName(id: ServicePortId, endpoint: string): string {
  return `${ENDPOINT_CHAIN_PREFIX}${hash(servicePortName(id) + id.protocol.toLowerCase() + endpoint)}`;
}

export function isRowChain(name: string): boolean {
  return ROW_CHAIN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const HASH_BYTES = 10;

/** The first 16 characters of the base32 of the SHA-256. */
function hash(text: string): string {
  const digest = digestOf('sha256', text, 'buffer');
  let bits = 0;
  let bitCount = 0;
  let name = '';
  for (const byte of digest.subarray(0, HASH_BYTES)) {
    bits = ((bits << 8) | byte) & 0xffff;
    for (bitCount += 8; bitCount >= 5; bitCount -= 5) {
      name += BASE32[(bits >>> (bitCount - 5)) & 31];
    }
  }
  return name;
}
