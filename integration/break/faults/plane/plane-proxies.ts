import type { FairleadOptions } from '../../../../lab/proxies/fairlead.ts';

/** Modes whose rules are the table of nftables: alone, or behind programs in the kernel. */
const MODES = {
  'fairlead-nftables': 'nftables',
  'fairlead-socket-ebpf': 'socket-ebpf',
  'fairlead-tc-ebpf': 'tc-ebpf',
} as const satisfies Record<string, FairleadOptions['mode']>;

export type PlaneProxy = keyof typeof MODES;

/** In the order in which a node is switched from one to the next. */
export const PLANE_PROXIES = Object.keys(MODES) as readonly PlaneProxy[];

export function modeOf(proxy: PlaneProxy): FairleadOptions['mode'] {
  return MODES[proxy];
}

/** Whether it keeps maps and links of eBPF in front of the rules. */
export function hasPrograms(proxy: PlaneProxy): boolean {
  return MODES[proxy] !== 'nftables';
}
