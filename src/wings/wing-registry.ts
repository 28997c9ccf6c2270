import type { DropWatch, End } from '../linux/drops/drop.ts';
import type { PodNetworks, Wing } from '../modes/wing.ts';

/**
 * What the core asks of what can be taken off: an entry here, one in commands.ts, and the folders that
 * tools/wings/table.ts has for it. Loaded when it is used. Parts of modes are removed in this order.
 */
export const WINGS: readonly Wing[] = [
  {
    name: 'ebpf',
    modes: [
      {
        name: 'socket-ebpf',
        load: async () => (await import('./ebpf/socket-ebpf.ts')).SOCKET_EBPF,
      },
      { name: 'tc-ebpf', load: async () => (await import('./ebpf/tc-ebpf.ts')).TC_EBPF },
    ],
    attachments: [
      {
        place: 'cgroup',
        title: 'socket hooks (cgroup)',
        noun: 'socket hook',
        isHook: true,
        one: 'socket hook',
      },
      {
        place: 'tc',
        title: 'interfaces (tc)',
        noun: 'interface',
        isHook: true,
        one: 'program on interface',
      },
    ],
    watchDrops: async () => (await import('./ebpf/shipped-drops.ts')).watchShippedDrops,
  },
  {
    name: 'userspace',
    modes: [
      {
        name: 'userspace',
        load: async () => (await import('./userspace/userspace-mode.ts')).USERSPACE,
        statusWords: async () =>
          (await import('./userspace/userspace-status-words.ts')).USERSPACE_STATUS_WORDS,
      },
    ],
    attachments: [{ place: 'forwarder', title: 'forwarder', isHook: false, one: 'forwarder' }],
  },
  {
    name: 'ipvs',
    modes: [
      {
        name: 'ipvs',
        load: async () => (await import('./ipvs/ipvs-mode.ts')).IPVS,
        statusWords: async () => (await import('./ipvs/ipvs-status-words.ts')).IPVS_STATUS_WORDS,
      },
    ],
    attachments: [
      { place: 'ipvs', title: 'ipvs', isHook: false, one: 'ipvs' },
      {
        place: 'routing',
        title: 'routing rules of ipvs',
        noun: 'routing rule',
        isHook: false,
        one: 'routing rule',
      },
    ],
    removeKubeProxyIpvs: async () =>
      (await import('./ipvs/remove-kube-proxy-ipvs.ts')).removeKubeProxyIpvs,
  },
  {
    name: 'iptables',
    modes: [
      {
        name: 'iptables',
        load: async () => (await import('./iptables/iptables-mode.ts')).IPTABLES,
      },
    ],
    attachments: [
      {
        place: 'iptables',
        title: 'iptables jumps from',
        noun: 'jump',
        isHook: false,
        one: 'jump from',
      },
    ],
  },
  {
    name: 'outside',
    podNetworks: async () => (await import('./outside/pod-network/pod-network.ts')).POD_NETWORKS,
    tokenNote: async () => (await import('./outside/token-note.ts')).tokenNote,
  },
];

/** Reads what the kernel drops until the signal is aborted, or says in words why it cannot. */
export async function dropWatch(
  ends: readonly End[],
  signal: AbortSignal,
): Promise<DropWatch | string> {
  const watch = await WINGS.find((wing) => wing.watchDrops)?.watchDrops?.();
  return watch?.(ends, signal) ?? 'this build lacks eBPF, which tells why the kernel drops packets';
}

/** Undefined: this build has none. */
export async function podNetworks(): Promise<PodNetworks | undefined> {
  return await WINGS.find((wing) => wing.podNetworks)?.podNetworks?.();
}

/** Undefined: this machine has no token of `fairlead outside`, or this build lacks that command. */
export async function tokenNote(nowMs: number): Promise<string | undefined> {
  const note = await WINGS.find((wing) => wing.tokenNote)?.tokenNote?.();
  return await note?.(nowMs);
}
