import type { IptablesProgram } from '../host/iptables-program.ts';

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
  /** What an operator would apply for it. */
  readonly manifests: 'deploy/manifests' | 'deploy/ebpf';
}

const MODES = {
  nftables: {
    about: '',
    isOfKubeProxy: true,
    rules: 'nftables',
    hooks: 'none',
    servesLoopback: false,
    manifests: 'deploy/manifests',
  },
  'socket-ebpf': {
    about: ': socket hooks in front of nftables',
    isOfKubeProxy: false,
    rules: 'nftables',
    hooks: 'sockets',
    servesLoopback: false,
    manifests: 'deploy/ebpf',
  },
  'tc-ebpf': {
    about: ': programs at interfaces in front of nftables',
    isOfKubeProxy: false,
    rules: 'nftables',
    hooks: 'packets',
    servesLoopback: false,
    manifests: 'deploy/ebpf',
  },
  iptables: {
    about: '',
    isOfKubeProxy: true,
    rules: 'iptables',
    hooks: 'none',
    servesLoopback: true,
    manifests: 'deploy/manifests',
  },
} as const satisfies Record<string, ModeRow>;

export type FairleadMode = keyof typeof MODES;

/** Modes that kube-proxy has too. */
export type SharedMode = {
  [Name in FairleadMode]: (typeof MODES)[Name]['isOfKubeProxy'] extends true ? Name : never;
}[FairleadMode];

export const FAIRLEAD_MODES = Object.keys(MODES) as readonly FairleadMode[];

/** A mode, and for iptables on which backend: a proxy that can be asked for by name. */
export interface FairleadProxy extends ModeRow {
  readonly name: string;
  readonly description: string;
  readonly mode: FairleadMode;
  readonly hasPrograms: boolean;
  readonly isLegacy: boolean;
  /** The only backend of iptables that it finds. */
  readonly iptables?: IptablesProgram;
  /** The variant of kube-proxy that it is compared with. */
  readonly counterpart: string;
}

/** The backend named first is the one meant when none is named. */
const BACKENDS = ['nft', 'legacy'] as const;

export const FAIRLEAD_PROXIES: readonly FairleadProxy[] = FAIRLEAD_MODES.flatMap((mode) =>
  MODES[mode].rules === 'iptables'
    ? BACKENDS.map((backend) => proxy(mode, backend))
    : [proxy(mode, undefined)],
);

export function fairleadProxy(mode: FairleadMode): FairleadProxy {
  const found = FAIRLEAD_PROXIES.find((each) => each.mode === mode);
  if (found) return found;
  throw new TypeError(`no proxy in mode ${mode}`);
}

export function isSharedMode(mode: FairleadMode): mode is SharedMode {
  return MODES[mode].isOfKubeProxy;
}

function proxy(mode: FairleadMode, backend: (typeof BACKENDS)[number] | undefined): FairleadProxy {
  const row = MODES[mode];
  const isLegacy = backend === 'legacy';
  const suffix = isLegacy ? '-legacy' : '';
  return {
    ...row,
    name: `fairlead-${mode}${suffix}`,
    description: `Fairlead, ${mode} mode${backend ? ` on the ${backend} backend` : row.about}`,
    mode,
    hasPrograms: row.hooks !== 'none',
    isLegacy,
    ...(backend ? { iptables: `xtables-${backend}-multi` } : {}),
    counterpart: `upstream-${row.rules}${suffix}`,
  };
}
