import type { PlaneReadings } from '../../agent/metrics/plane-metrics.ts';
import { IMPLEMENTED_MODES, type ImplementedMode, type Mode } from '../../config/modes.ts';
import type { EbpfSettings } from '../../config/settings.ts';
import { ComposedPlane } from '../../dataplanes/composition.ts';
import { type DataPlane, type PacketCounts, PlaneError } from '../../dataplanes/contract.ts';
import { readPacketCounts } from '../../dataplanes/iptables/packet-counts.ts';
import { IptablesPlane } from '../../dataplanes/iptables/plane.ts';
import { NftablesPlane } from '../../dataplanes/nftables/plane.ts';
import { type Netlink, openNetlink } from '../../linux/netlink/socket.ts';
import { NETLINK_NETFILTER, NFNLGRP_NFTABLES } from '../../linux/nftables/protocol.ts';
import { CommandError } from '../command-error.ts';
import { DEFAULT_EBPF, hooksPlane, type PodsMet, podsMetIn } from './ebpf.ts';

/** Fifty thousand elements deleted at once must fit, or nobody knows which they were. */
const EVENT_BUFFER_BYTES = 16 * 1024 * 1024;

/** What lies in the kernel, in the order in which it is taken away: hooks before what is behind. */
export const PLANE_PARTS = ['ebpf hooks', 'nftables', 'iptables'] as const;

export type PlanePart = (typeof PLANE_PARTS)[number];

const PARTS_OF_MODE: Record<ImplementedMode, readonly PlanePart[]> = {
  nftables: ['nftables'],
  iptables: ['iptables'],
  'socket-ebpf': ['ebpf hooks', 'nftables'],
  'tc-ebpf': ['ebpf hooks', 'nftables'],
};

export const BUILT_MODES: readonly Mode[] = IMPLEMENTED_MODES;

/** What a plane may need of the program it runs in. */
export interface PlaneSurroundings {
  readonly ebpf?: EbpfSettings;
  /** At sockets, unless it is said otherwise. */
  readonly podsMet?: PodsMet;
  readonly onWarning?: (message: string) => void;
  /** Called before node ports are served on loopback. */
  readonly serveLocalhost?: () => Promise<void>;
}

export function partsOfMode(mode: Mode): readonly PlanePart[] {
  const parts = Object.entries(PARTS_OF_MODE).find(([name]) => name === mode)?.[1];
  if (parts) return parts;
  throw new CommandError(`mode ${mode} does not exist in this version`, {
    code: 'MODE_MISSING',
    next: `use one of ${IMPLEMENTED_MODES.join(', ')}: "mode: nftables" in the file, or --proxy-mode nftables`,
  });
}

/** What the rules of a mode count by name, for metrics; undefined: it has nothing of the kind. */
export function packetCountsOf(mode: Mode): (() => Promise<PacketCounts>) | undefined {
  return mode === 'iptables' ? () => readPacketCounts(openNetfilter) : undefined;
}

/** What a scrape may ask of a plane: in iptables mode, to see what is attached starts programs. */
export function planeReadings(plane: DataPlane, mode: Mode): PlaneReadings {
  return {
    ...(plane.attachments && mode !== 'iptables'
      ? { attachments: async () => (await plane.attachments?.()) ?? [] }
      : {}),
    ...(plane.ruleCounts ? { ruleCounts: () => plane.ruleCounts?.() ?? [] } : {}),
  };
}

export function openPlane(mode: Mode, around: PlaneSurroundings = {}): DataPlane {
  const podsMet = podsMetIn(mode);
  const [first, behind] = partsOfMode(mode).map((part) => openPart(part, { ...around, podsMet }));
  if (first === undefined) throw new TypeError(`mode ${mode} has no parts`);
  if (behind === undefined) return first;
  const onFrontLost = (error: unknown): void =>
    around.onWarning?.(
      `${first.mode} cannot be used, falling back to ${behind.mode}: ${why(error)}`,
    );
  return new ComposedPlane({ mode, front: first, behind, onFrontLost });
}

function why(error: unknown): string {
  if (error instanceof PlaneError) return `${error.message} (${error.code}). Next: ${error.next}`;
  return String(error);
}

export function openPart(part: PlanePart, around: PlaneSurroundings = {}): DataPlane {
  switch (part) {
    case 'ebpf hooks':
      return hooksPlane(around.ebpf ?? DEFAULT_EBPF, around.podsMet ?? 'at sockets');
    case 'nftables':
      return new NftablesPlane({ openNetlink: openNetfilter });
    case 'iptables':
      return iptablesPlane(around);
  }
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

export function openNftables(): Netlink {
  return openNetfilter('requests');
}

function openNetfilter(kind: 'requests' | 'events'): Netlink {
  if (kind === 'requests') return openNetlink({ protocol: NETLINK_NETFILTER });
  return openNetlink({
    protocol: NETLINK_NETFILTER,
    groups: [NFNLGRP_NFTABLES],
    receiveBufferBytes: EVENT_BUFFER_BYTES,
  });
}
