import { DEFAULT_MODE, KUBE_PROXY_MODES, LOCAL_TRAFFIC_MODES, modesWith } from '../modes.ts';
import { type FieldRow, SECOND_MS } from './row.ts';

const AT_ONCE =
  'Fairlead applies a change at once and pays only for what changed; there is no full sync to space out.';
const IPTABLES_MASQUERADE = modesWith(({ masqueradeBlock }) => masqueradeBlock === 'iptables');
const IPTABLES_SYNC = modesWith(({ syncBlock }) => syncBlock === 'iptables');
const NFTABLES = modesWith(({ masqueradeBlock }) => masqueradeBlock === 'nftables');
const IPVS = modesWith(({ syncBlock }) => syncBlock === 'ipvs');

/** How traffic is handled: mode, what counts as local, node ports, and a block for each mode. */
export const TRAFFIC_FIELDS = {
  mode: {
    kind: 'text',
    about: 'the kernel facility that forwards packets',
    kubeProxyDefault: 'iptables',
    ownDefault: DEFAULT_MODE,
    why:
      'One more Service costs the same at 100 and at 50,000 of them, and nftables is where kube-proxy ' +
      'is going as well. A file without mode was written for iptables: what its iptables block says is honoured.',
    choices: KUBE_PROXY_MODES,
    zeroIsUnset: true,
    change: 'restart',
  },
  detectLocalMode: {
    kind: 'text',
    about: 'how traffic of local pods is recognised',
    kubeProxyDefault: 'ClusterCIDR',
    choices: LOCAL_TRAFFIC_MODES,
    zeroIsUnset: true,
    change: 'live',
  },
  'detectLocal.bridgeInterface': {
    kind: 'text',
    about: 'the bridge of the pods, for BridgeInterface',
    kubeProxyDefault: '',
    change: 'live',
  },
  'detectLocal.interfaceNamePrefix': {
    kind: 'text',
    about: "how the names of the pods' interfaces begin, for InterfaceNamePrefix",
    kubeProxyDefault: '',
    change: 'live',
  },
  clusterCIDR: {
    kind: 'text',
    about:
      'addresses of pods, for ClusterCIDR and for mode tc-ebpf: one range, or one of each family with a comma',
    kubeProxyDefault: '',
    change: 'live',
  },
  nodePortAddresses: {
    kind: 'texts',
    about:
      'addresses of the node that node ports are served on: ranges, "primary" for those of the Node object, "localhost", "all"; any of them side by side. Loopback is served in mode iptables (iptables.localhostNodePorts), and in the others for TCP with the feature gate KubeProxyNFTablesLocalhostNodePorts, where it is named itself',
    kubeProxyDefault: [],
    defaultFollows:
      '"primary" in mode nftables and in the modes of fairlead.mode; all addresses in iptables, ipvs, and when no mode is set',
    why: 'With fairlead.nodeObject "none" there are no node ports, and a list serves only what is in it: a family without a range has none.',
    change: 'live',
  },
  'iptables.masqueradeBit': {
    kind: 'int32',
    about: 'the bit of the packet mark for "masquerade this"',
    kubeProxyDefault: 14,
    min: 0,
    max: 31,
    modes: IPTABLES_MASQUERADE,
    change: 'restart',
  },
  'iptables.masqueradeAll': {
    kind: 'boolean',
    about: 'masquerade everything that goes to a cluster IP',
    kubeProxyDefault: false,
    modes: IPTABLES_MASQUERADE,
    change: 'live',
  },
  'iptables.localhostNodePorts': {
    kind: 'boolean',
    about: 'node ports on 127.0.0.1',
    kubeProxyDefault: true,
    modes: modesWith(({ loopback }) => loopback === 'forwarded'),
    change: 'live',
  },
  'iptables.syncPeriod': {
    kind: 'duration',
    about: 'longest wait before a failed change is tried again; twice as long makes /healthz fail',
    kubeProxyDefault: 30 * SECOND_MS,
    zeroIsUnset: true,
    aboveZero: true,
    modes: IPTABLES_SYNC,
    change: 'live',
  },
  'iptables.minSyncPeriod': {
    kind: 'duration',
    about: 'shortest time between two syncs',
    kubeProxyDefault: SECOND_MS,
    zeroIsUnset: true,
    min: 0,
    noEffect: AT_ONCE,
    modes: IPTABLES_SYNC,
    change: 'live',
  },
  'nftables.masqueradeBit': {
    kind: 'int32',
    about: 'the bit of the packet mark for "masquerade this"',
    kubeProxyDefault: 14,
    min: 0,
    max: 31,
    modes: NFTABLES,
    change: 'restart',
  },
  'nftables.masqueradeAll': {
    kind: 'boolean',
    about: 'masquerade everything that goes to a cluster IP',
    kubeProxyDefault: false,
    modes: NFTABLES,
    change: 'live',
  },
  'nftables.syncPeriod': {
    kind: 'duration',
    about: 'longest wait before a failed change is tried again; twice as long makes /healthz fail',
    kubeProxyDefault: 30 * SECOND_MS,
    zeroIsUnset: true,
    aboveZero: true,
    modes: NFTABLES,
    change: 'live',
  },
  'nftables.minSyncPeriod': {
    kind: 'duration',
    about: 'shortest time between two syncs',
    kubeProxyDefault: SECOND_MS,
    zeroIsUnset: true,
    min: 0,
    noEffect: AT_ONCE,
    modes: NFTABLES,
    change: 'live',
  },
  'ipvs.syncPeriod': {
    kind: 'duration',
    about: 'longest wait before a failed change is tried again; twice as long makes /healthz fail',
    kubeProxyDefault: 30 * SECOND_MS,
    zeroIsUnset: true,
    aboveZero: true,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.minSyncPeriod': {
    kind: 'duration',
    about: 'shortest time between two syncs',
    kubeProxyDefault: 0,
    min: 0,
    noEffect: AT_ONCE,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.scheduler': {
    kind: 'text',
    about: 'how IPVS chooses an endpoint',
    kubeProxyDefault: 'rr',
    zeroIsUnset: true,
    modes: IPVS,
    change: 'restart',
  },
  'ipvs.excludeCIDRs': {
    kind: 'texts',
    about: 'virtual servers in these ranges belong to others',
    kubeProxyDefault: [],
    modes: IPVS,
    change: 'live',
  },
  'ipvs.strictARP': {
    kind: 'boolean',
    about: 'answer ARP only for addresses of the interface that is asked',
    kubeProxyDefault: false,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.tcpTimeout': {
    kind: 'duration',
    about: 'idle TCP connections; 0 leaves the value of the kernel',
    kubeProxyDefault: 0,
    min: 0,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.tcpFinTimeout': {
    kind: 'duration',
    about: 'TCP connections after a FIN; 0 leaves the value of the kernel',
    kubeProxyDefault: 0,
    min: 0,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.udpTimeout': {
    kind: 'duration',
    about: 'idle UDP flows; 0 leaves the value of the kernel',
    kubeProxyDefault: 0,
    min: 0,
    modes: IPVS,
    change: 'live',
  },
} as const satisfies Record<string, FieldRow>;
