import type { IptablesProgram } from '../host/iptables-program.ts';
import type { KernelPart } from '../host/kernel-parts.ts';

/** What the test beds must know of a mode of Fairlead. Every list of modes is made from this table. */
interface ModeRow {
  readonly about: string;
  /** Whether kube-proxy has it too: its own field `mode` names it, and a variant runs beside it. */
  readonly isOfKubeProxy: boolean;
  /** Where the rules are that packets meet. */
  readonly rules: 'nftables' | 'iptables';
  /** Programs in front of the rules: for connections of all sockets, or for those of the node and packets. */
  readonly hooks: 'none' | 'sockets' | 'packets';
  /** Node ports on 127.0.0.1 are served without a feature gate. */
  readonly servesLoopback: boolean;
  /** Whether a process of its own takes TCP connections, in front of the rules. */
  readonly hasForwarder: boolean;
  /** Whether IPVS is in front of the rules: only a kernel that has it can run the proxy. */
  readonly needsIpvs: boolean;
  /** What an operator would apply for it. */
  readonly manifests: 'deploy/manifests' | 'deploy/ebpf' | 'deploy/userspace';
}

const MODES = {
  nftables: {
    about: '',
    isOfKubeProxy: true,
    rules: 'nftables',
    hooks: 'none',
    servesLoopback: false,
    hasForwarder: false,
    needsIpvs: false,
    manifests: 'deploy/manifests',
  },
  'socket-ebpf': {
    about: ': socket hooks in front of nftables',
    isOfKubeProxy: false,
    rules: 'nftables',
    hooks: 'sockets',
    servesLoopback: false,
    hasForwarder: false,
    needsIpvs: false,
    manifests: 'deploy/ebpf',
  },
  'tc-ebpf': {
    about: ': programs at interfaces in front of nftables',
    isOfKubeProxy: false,
    rules: 'nftables',
    hooks: 'packets',
    servesLoopback: false,
    hasForwarder: false,
    needsIpvs: false,
    manifests: 'deploy/ebpf',
  },
  userspace: {
    about: ': a forwarder for TCP connections in front of nftables',
    isOfKubeProxy: false,
    rules: 'nftables',
    hooks: 'none',
    servesLoopback: false,
    hasForwarder: true,
    needsIpvs: false,
    manifests: 'deploy/userspace',
  },
  iptables: {
    about: '',
    isOfKubeProxy: true,
    rules: 'iptables',
    hooks: 'none',
    servesLoopback: true,
    hasForwarder: false,
    needsIpvs: false,
    manifests: 'deploy/manifests',
  },
  ipvs: {
    about: ': virtual servers in front of nftables',
    isOfKubeProxy: true,
    rules: 'nftables',
    hooks: 'none',
    servesLoopback: false,
    hasForwarder: false,
    needsIpvs: true,
    manifests: 'deploy/manifests',
  },
} as const satisfies Record<string, ModeRow>;

export type FairleadMode = keyof typeof MODES;

/** Modes that kube-proxy has too. */
export type SharedMode = {
  [Name in FairleadMode]: (typeof MODES)[Name]['isOfKubeProxy'] extends true ? Name : never;
}[FairleadMode];

export const FAIRLEAD_MODES = Object.keys(MODES) as readonly FairleadMode[];

/**
 * A mode, for iptables on which backend, and for one with a forwarder whether that can start: a proxy
 * that can be asked for by name.
 */
export interface FairleadProxy extends ModeRow {
  readonly name: string;
  readonly description: string;
  readonly mode: FairleadMode;
  readonly hasPrograms: boolean;
  readonly isLegacy: boolean;
  /** `dead`: every start of it fails, so that the rules behind it serve. */
  readonly forwarder: 'none' | 'alive' | 'dead';
  /** The only backend of iptables that it finds. */
  readonly iptables?: IptablesProgram;
  /** The variant of kube-proxy that it is compared with. */
  readonly counterpart: string;
}

/** The backend named first is the one meant when none is named. */
const BACKENDS = ['nft', 'legacy'] as const;

export const FAIRLEAD_PROXIES: readonly FairleadProxy[] = FAIRLEAD_MODES.flatMap((mode) => {
  if (MODES[mode].rules === 'iptables') return BACKENDS.map((backend) => proxy(mode, { backend }));
  if (!MODES[mode].hasForwarder) return [proxy(mode)];
  return (['alive', 'dead'] as const).map((forwarder) => proxy(mode, { forwarder }));
});

export function fairleadProxy(mode: FairleadMode): FairleadProxy {
  const found = FAIRLEAD_PROXIES.find((each) => each.mode === mode);
  if (found) return found;
  throw new TypeError(`no proxy in mode ${mode}`);
}

/** Parts of the kernel without which a mode cannot run, whoever's it is. */
export function kernelPartsOf(mode: FairleadMode): readonly KernelPart[] {
  return MODES[mode].needsIpvs ? ['ipvs'] : [];
}

export function isSharedMode(mode: FairleadMode): mode is SharedMode {
  return MODES[mode].isOfKubeProxy;
}

interface Variation {
  readonly backend?: (typeof BACKENDS)[number];
  readonly forwarder?: FairleadProxy['forwarder'];
}

function proxy(mode: FairleadMode, of: Variation = {}): FairleadProxy {
  const row = MODES[mode];
  const { backend, forwarder = 'none' } = of;
  const isLegacy = backend === 'legacy';
  const isDead = forwarder === 'dead';
  const suffix = isLegacy ? '-legacy' : '';
  const about = backend ? ` on the ${backend} backend` : row.about;
  return {
    ...row,
    name: `fairlead-${mode}${suffix}${isDead ? '-dead' : ''}`,
    description: `Fairlead, ${mode} mode${about}${isDead ? ', which cannot start' : ''}`,
    mode,
    hasPrograms: row.hooks !== 'none',
    isLegacy,
    forwarder,
    ...(backend ? { iptables: `xtables-${backend}-multi` } : {}),
    counterpart: `upstream-${row.isOfKubeProxy ? mode : row.rules}${suffix}`,
  };
}
