/** The modes that kube-proxy knows too, and that its own field `mode` may name. */
export const KUBE_PROXY_MODES = ['iptables', 'ipvs', 'nftables'] as const;

export const MODES = [...KUBE_PROXY_MODES, 'userspace', 'tc-ebpf', 'socket-ebpf'] as const;

/** The modes that this version can run; the others are read, and said to be missing. */
export const IMPLEMENTED_MODES = ['nftables', 'iptables', 'socket-ebpf', 'tc-ebpf'] as const;

export type ImplementedMode = (typeof IMPLEMENTED_MODES)[number];

export type Mode = (typeof MODES)[number];

export const LOCAL_TRAFFIC_MODES = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
] as const;

export function isMode(text: string): text is Mode {
  return MODES.some((mode) => mode === text);
}
