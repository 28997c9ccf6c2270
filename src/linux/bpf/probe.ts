import { AttachType, MapFlag, MapType, ProgramType } from './constants.ts';
import { BpfError } from './errors.ts';
import { KernelTypes } from './kernel-types.ts';
import { tryBatch, tryCgroupLink, tryMap, tryProgram, tryTcxLink } from './probe-programs.ts';

/**
 * What a kernel must have to translate addresses at sockets (when a program connects) or at packets
 * (when they come in).
 */
export type Use = 'sockets' | 'packets';

interface Feature {
  readonly name: string;
  /** The version that brought it; distributions bring some of it to older ones. */
  readonly since: string;
  readonly uses: readonly Use[];
  /** Throws if it is not there. */
  readonly attempt: (kernel: KernelTypes) => void;
}

export interface FeatureResult {
  readonly name: string;
  readonly since: string;
  readonly uses: readonly Use[];
  /** Undefined: it works. */
  readonly missing: BpfError | undefined;
}

export interface ProbeResult {
  readonly features: readonly FeatureResult[];
  /** Uses for which everything is there. */
  readonly works: readonly Use[];
}

const USES: readonly Use[] = ['sockets', 'packets'];
const HELPER_NETNS_COOKIE = 122;
const HELPER_SET_RETVAL = 187;

const FEATURES: readonly Feature[] = [
  {
    name: 'types of the running kernel (/sys/kernel/btf/vmlinux)',
    since: '5.4',
    uses: USES,
    attempt: (kernel) => void kernel.kernelFunction('bpf_map_put'),
  },
  { name: 'hash maps', since: '3.19', uses: USES, attempt: () => tryMap(MapType.hash) },
  {
    name: 'prefix maps',
    since: '4.11',
    uses: ['packets'],
    attempt: () => tryMap(MapType.lpmTrie, MapFlag.noPrealloc),
  },
  { name: 'writing many entries at once', since: '5.6', uses: USES, attempt: tryBatch },
  ...socketHook('connect', '4.17', [AttachType.cgroupConnect4, AttachType.cgroupConnect6]),
  ...socketHook('sendmsg', '4.18', [AttachType.cgroupSendmsg4, AttachType.cgroupSendmsg6]),
  ...socketHook('recvmsg', '5.2', [AttachType.cgroupRecvmsg4, AttachType.cgroupRecvmsg6]),
  ...socketHook('getpeername', '5.8', [
    AttachType.cgroupGetpeername4,
    AttachType.cgroupGetpeername6,
  ]),
  {
    name: 'links to cgroups',
    since: '5.7',
    uses: USES,
    attempt: () => tryCgroupLink(AttachType.cgroupConnect4),
  },
  {
    name: 'the cookie of a network namespace',
    since: '5.7',
    uses: USES,
    attempt: () => tryConnectHelper({ number: HELPER_NETNS_COOKIE }),
  },
  {
    name: 'refusing a connect with an error of choice (bpf_set_retval)',
    since: '5.18',
    uses: USES,
    attempt: () => tryConnectHelper({ number: HELPER_SET_RETVAL, argument: -111 }),
  },
  constant('BPF_FUNC_sk_storage_get', { since: '5.2', uses: USES }),
  constant('BPF_FUNC_loop', { since: '5.17', uses: USES }),
  constant('BPF_FIB_LOOKUP_SRC', { since: '6.7', uses: ['packets'] }),
  kernelFunction('bpf_iter_udp', { since: '5.8', uses: ['sockets'] }),
  kernelFunction('bpf_sock_destroy', { since: '6.5', uses: ['sockets'] }),
  kernelFunction('bpf_skb_ct_lookup', { since: '5.18', uses: ['packets'] }),
  kernelFunction('bpf_skb_ct_alloc', { since: '6.0', uses: ['packets'] }),
  kernelFunction('bpf_ct_insert_entry', { since: '6.0', uses: ['packets'] }),
  kernelFunction('bpf_ct_change_timeout', { since: '6.0', uses: ['packets'] }),
  kernelFunction('bpf_ct_set_nat_info', { since: '6.1', uses: ['packets'] }),
  {
    name: 'links to devices (tcx)',
    since: '6.6',
    uses: ['packets'],
    attempt: () => tryTcxLink(AttachType.tcxIngress),
  },
];

/** Tries each thing on the kernel that runs. Throws only if we may not try: then nothing is known. */
export function probe(kernel: KernelTypes = new KernelTypes()): ProbeResult {
  const features = FEATURES.map(({ name, since, uses, attempt }) => {
    return { name, since, uses, missing: outcome(() => attempt(kernel)) };
  });
  const lacks = (use: Use): boolean =>
    features.some(({ uses, missing }) => missing !== undefined && uses.includes(use));
  return { features, works: USES.filter((use) => !lacks(use)) };
}

/** One sentence for each thing that is missing, for people. */
export function describeMissing(result: ProbeResult, use: Use): string[] {
  return result.features
    .filter(({ missing, uses }) => missing !== undefined && uses.includes(use))
    .map(({ name, since, missing }) => `${name}: since Linux ${since}; ${missing?.message}`);
}

function outcome(attempt: () => void): BpfError | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof BpfError && error.code !== 'BPF_NOT_PERMITTED') return error;
    throw error;
  }
}

function socketHook(name: string, since: string, attachTypes: readonly number[]): Feature[] {
  return attachTypes.map((expectedAttachType, index) => ({
    name: `the ${name} hook for IPv${index === 0 ? 4 : 6}`,
    since,
    uses: USES,
    attempt: () => tryProgram({ type: ProgramType.cgroupSocketAddress, expectedAttachType }),
  }));
}

function tryConnectHelper(helper: { readonly number: number; readonly argument?: number }): void {
  const expectedAttachType = AttachType.cgroupConnect4;
  tryProgram({ type: ProgramType.cgroupSocketAddress, expectedAttachType, helper });
}

function kernelFunction(name: string, about: Pick<Feature, 'since' | 'uses'>): Feature {
  return {
    name: `the kernel's function ${name}`,
    ...about,
    attempt: (kernel) => {
      if (kernel.kernelFunction(name) !== undefined) return;
      throw new BpfError('BPF_KERNEL_LACKS', `this kernel has no ${name}`);
    },
  };
}

/** A number of the kernel's interface: one that it has is among the names of its types. */
function constant(name: string, about: Pick<Feature, 'since' | 'uses'>): Feature {
  return {
    name,
    ...about,
    attempt: (kernel) => {
      if (kernel.knowsName(name)) return;
      throw new BpfError('BPF_KERNEL_LACKS', `this kernel has no ${name}`);
    },
  };
}
