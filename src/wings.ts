import type { PodNetworks, Wing } from './modes/wing.ts';

/**
 * Everything that can be taken off: an entry here, and the folders that tools/wings/table.ts has for it.
 * The only file that knows wings; it loads what is used. Parts of modes are removed in this order.
 */
export const WINGS: readonly Wing[] = [
  {
    modes: {
      'socket-ebpf': async () => (await import('./wings/ebpf/socket-ebpf.ts')).SOCKET_EBPF,
      'tc-ebpf': async () => (await import('./wings/ebpf/tc-ebpf.ts')).TC_EBPF,
    },
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
    commands: {
      'Configure and maintain:': [
        {
          name: 'size',
          load: async () => (await import('./wings/ebpf/size-command.ts')).sizeCommand(),
        },
      ],
    },
  },
  {
    modes: {
      userspace: async () => (await import('./wings/userspace/userspace-mode.ts')).USERSPACE,
    },
    attachments: [{ place: 'forwarder', title: 'forwarder', isHook: false, one: 'forwarder' }],
  },
  {
    modes: { ipvs: async () => (await import('./wings/ipvs/ipvs-mode.ts')).IPVS },
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
      (await import('./wings/ipvs/kube-proxy-leftovers.ts')).removeKubeProxyIpvs,
  },
  {
    modes: { iptables: async () => (await import('./wings/iptables/iptables-mode.ts')).IPTABLES },
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
    commands: {
      'Inspect a node:': [
        {
          name: 'top',
          load: async () => (await import('./wings/top/top-command.ts')).topCommand(),
        },
      ],
    },
  },
  {
    commands: {
      'Inspect a node:': [
        {
          name: 'view',
          load: async () => (await import('./wings/view/view-command.ts')).viewCommand(),
        },
      ],
    },
  },
  {
    commands: {
      'Outside the cluster:': [
        {
          name: 'outside',
          load: async () => (await import('./wings/outside/outside-command.ts')).outsideCommand(),
        },
        {
          name: 'shell',
          load: async () => (await import('./wings/outside/shell/shell-command.ts')).shellCommand(),
        },
      ],
    },
    podNetworks: async () =>
      (await import('./wings/outside/pod-network/pod-network.ts')).POD_NETWORKS,
    tokenNote: async () => (await import('./wings/outside/token-note.ts')).tokenNote,
  },
];

/** Undefined: this build has none. */
export async function podNetworks(): Promise<PodNetworks | undefined> {
  return await WINGS.find((wing) => wing.podNetworks)?.podNetworks?.();
}

/** Undefined: the token of this machine is of nobody's concern, or this build has no such machines. */
export async function tokenNote(nowMs: number): Promise<string | undefined> {
  const note = await WINGS.find((wing) => wing.tokenNote)?.tokenNote?.();
  return await note?.(nowMs);
}
