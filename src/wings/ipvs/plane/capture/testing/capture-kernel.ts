import type { NodeFacts } from '../../../../../dataplanes/contract.ts';
import { type Netlink, openNetlink } from '../../../../../linux/netlink/netlink-socket.ts';
import { run } from '../../../../../linux/netlink/testing/own-namespace.ts';
import {
  NETLINK_NETFILTER,
  NFNLGRP_NFTABLES,
  type TableFamily,
} from '../../../../../linux/nftables/nftables-protocol.ts';
import { Captures } from '../captures.ts';
import type { CapturedFrontend } from '../frontend.ts';

const EVENT_BUFFER_BYTES = 1024 * 1024;

/** In the network namespace of the test. */
export function newCaptures(): Captures {
  return new Captures({ openNetlink: openNetfilter });
}

function openNetfilter(kind: 'requests' | 'events'): Netlink {
  return openNetlink({
    protocol: NETLINK_NETFILTER,
    ...(kind === 'events'
      ? { groups: [NFNLGRP_NFTABLES], receiveBufferBytes: EVENT_BUFFER_BYTES }
      : {}),
  });
}

export function listCapture(family: TableFamily): string {
  return run(['nft', 'list', 'table', family, 'fairlead-ipvs']);
}

export function nft(script: string): string {
  return run(['nft', '-f', '-'], script);
}

export const FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'interface-prefix', prefix: 'pod-' },
  },
  nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
  serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'],
  masqueradeMark: 0x4000,
};

const TO_ALL = {
  pod: 'take',
  host: 'take-and-masquerade',
  outside: 'take-and-masquerade',
} as const;

export function frontend(
  more: Partial<CapturedFrontend> & { readonly address: string },
): CapturedFrontend {
  const family = more.address.includes(':') ? 'IPv6' : 'IPv4';
  return { family, protocol: 'TCP', port: 80, capture: TO_ALL, ...more };
}
