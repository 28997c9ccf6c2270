import { FABRIC } from '../network/plan.ts';

/** Where nodes may pull images from, without TLS. Nothing listens unless a test starts it. */
export const REGISTRY = `${FABRIC.ipv4}:5000`;

/** The DNS server of every pod; kubelets configure it. */
export const DNS_ADDRESS = '10.96.0.10';
export const DNS_DOMAIN = 'cluster.local';

const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;

/** Three zones, so that "the same zone" and "another one" both have more than one answer. */
export function realZoneOf(nodeIndex: number): string {
  return ZONES[(nodeIndex - 1) % ZONES.length] ?? ZONES[0];
}
