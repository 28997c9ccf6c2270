/** The inputs that a mode needs besides Services, EndpointSlices and the Node. */
export interface ModeNeeds {
  /** Addresses of the machine: the plane leaves them to packets, as a process may serve them. */
  readonly ownAddresses: boolean;
  /** Namespace objects: a label of theirs takes their Services away from the mode's programs. */
  readonly namespaces: boolean;
}

/**
 * The properties of a mode that the configuration needs: which fields it reads, and where node
 * ports answer.
 */
interface ModeTraits {
  /** Whether kube-proxy's own field `mode` may name it. */
  readonly isOfKubeProxy: boolean;
  /** The feature gate of kube-proxy without which its field `mode` may not name it. */
  readonly gate?: 'KubeProxyIPVS';
  readonly needs: ModeNeeds;
  /** Whether `fairlead.interfaces` chooses the interfaces that it serves. */
  readonly choosesInterfaces?: true;
  /** Whether its rules can hand connections to a network through the API server (`fairlead.podNetwork`). */
  readonly hasApiServerNetwork?: true;
  /** Whether a process of its own copies TCP streams: it reads the block `fairlead.userspace`. */
  readonly hasForwarder?: true;
  /** The block whose `masqueradeAll` and `masqueradeBit` it reads. */
  readonly masqueradeBlock: 'iptables' | 'nftables';
  /** The block whose `syncPeriod` it reads. */
  readonly syncBlock: 'iptables' | 'ipvs' | 'nftables';
  /** Whether node ports are served on all addresses, and not only the primary ones, by default. */
  readonly servesAllAddresses: boolean;
  /** How node ports on loopback are served: by rules of the kernel, or for TCP by a relay. */
  readonly loopback: 'forwarded' | 'relayed';
}

const NO_NEEDS: ModeNeeds = { ownAddresses: false, namespaces: false };

const KUBE_PROXY_NFTABLES = {
  isOfKubeProxy: true,
  masqueradeBlock: 'nftables',
  syncBlock: 'nftables',
  servesAllAddresses: false,
  loopback: 'relayed',
  needs: NO_NEEDS,
} as const;

/** Modes that kube-proxy does not have read the block of the one that is most like them. */
const OWN = { ...KUBE_PROXY_NFTABLES, isOfKubeProxy: false } as const;

/** Hooks act before there is a packet, so they need what is not for them. */
const HOOKS = { ...OWN, needs: { ownAddresses: true, namespaces: true } } as const;

/** Every mode that a configuration may name; `src/modes/mode-registry.ts` has a value for each that is built in. */
const TRAITS = {
  nftables: { ...KUBE_PROXY_NFTABLES, hasApiServerNetwork: true },
  iptables: {
    isOfKubeProxy: true,
    masqueradeBlock: 'iptables',
    syncBlock: 'iptables',
    servesAllAddresses: true,
    loopback: 'forwarded',
    needs: NO_NEEDS,
  },
  ipvs: {
    isOfKubeProxy: true,
    gate: 'KubeProxyIPVS',
    // Each address of the machine has a virtual server for each node port.
    needs: { ownAddresses: true, namespaces: false },
    masqueradeBlock: 'iptables',
    syncBlock: 'ipvs',
    servesAllAddresses: true,
    loopback: 'relayed',
  },
  'socket-ebpf': { ...HOOKS },
  'tc-ebpf': { ...HOOKS, choosesInterfaces: true },
  userspace: { ...OWN, hasForwarder: true },
} as const satisfies Record<string, ModeTraits>;

export type ModeName = keyof typeof TRAITS;

export const DEFAULT_MODE: ModeName = 'nftables';

export const MODE_NAMES = Object.keys(TRAITS) as readonly ModeName[];

export const KUBE_PROXY_MODES = modesWith(({ isOfKubeProxy }) => isOfKubeProxy);

export const LOCAL_TRAFFIC_MODES = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
] as const;

export function modesWith(has: (traits: ModeTraits) => boolean): readonly ModeName[] {
  return MODE_NAMES.filter((name) => has(TRAITS[name]));
}

export function traitsOf(mode: ModeName): ModeTraits {
  return TRAITS[mode];
}

export function isModeName(text: string): text is ModeName {
  return Object.hasOwn(TRAITS, text);
}
