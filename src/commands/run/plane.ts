import type { Mode } from '../../config/modes.ts';
import type { DataPlane, PacketCounts } from '../../dataplanes/contract.ts';
import { readPacketCounts } from '../../dataplanes/iptables/packet-counts.ts';
import { IptablesPlane } from '../../dataplanes/iptables/plane.ts';
import { NftablesPlane } from '../../dataplanes/nftables/plane.ts';
import { type Netlink, openNetlink } from '../../linux/netlink/socket.ts';
import { NETLINK_NETFILTER, NFNLGRP_NFTABLES } from '../../linux/nftables/protocol.ts';
import { CommandError } from '../command-error.ts';

/** Fifty thousand elements deleted at once must fit, or nobody knows which they were. */
const EVENT_BUFFER_BYTES = 16 * 1024 * 1024;

/** The modes that there are. */
export const PLANE_MODES = ['nftables', 'iptables'] as const satisfies readonly Mode[];

/** What a plane may need of the program it runs in. */
export interface PlaneSurroundings {
  readonly onWarning?: (message: string) => void;
  /** Called before node ports are served on loopback. */
  readonly serveLocalhost?: () => Promise<void>;
}

export function openPlane(mode: Mode, around: PlaneSurroundings = {}): DataPlane {
  if (mode === 'nftables') return nftablesPlane();
  if (mode === 'iptables') return iptablesPlane(around);
  throw new CommandError(`mode ${mode} is not there yet`, {
    code: 'MODE_MISSING',
    next: 'use nftables or iptables: in the file (mode: nftables), or by --proxy-mode nftables',
  });
}

/** What the rules of a mode count by name, for metrics; undefined: it has nothing of the kind. */
export function packetCountsOf(mode: Mode): (() => Promise<PacketCounts>) | undefined {
  return mode === 'iptables' ? () => readPacketCounts(openNetfilter) : undefined;
}

function nftablesPlane(): DataPlane {
  return new NftablesPlane({ openNetlink: openNetfilter });
}

function iptablesPlane({ onWarning, serveLocalhost }: PlaneSurroundings): DataPlane {
  return new IptablesPlane({
    openNetlink: openNetfilter,
    ...(serveLocalhost ? { serveLocalhost } : {}),
    onOtherBackend: (backend) =>
      onWarning?.(`rules of kube-proxy or Fairlead lie in the tables of iptables-${backend} too`),
    onNoNetlink: (why) =>
      onWarning?.(`changes are written by iptables-restore, and so more slowly: ${why}`),
  });
}

function openNetfilter(kind: 'requests' | 'events'): Netlink {
  if (kind === 'requests') return openNetlink({ protocol: NETLINK_NETFILTER });
  return openNetlink({
    protocol: NETLINK_NETFILTER,
    groups: [NFNLGRP_NFTABLES],
    receiveBufferBytes: EVENT_BUFFER_BYTES,
  });
}
