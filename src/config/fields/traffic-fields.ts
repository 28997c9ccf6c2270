import { IPVS_SCHEDULERS } from '../ipvs-schedulers.ts';
import { DEFAULT_MODE, KUBE_PROXY_MODES, LOCAL_TRAFFIC_MODES, modesWith } from '../modes.ts';
import { type FieldRow, SECOND_MS } from './field-row.ts';

const AT_ONCE =
  'Fairlead applies each change immediately, at a cost that depends only on the change; there is no full sync to delay.';
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
      'The cost of a change is the same at 100 and at 50,000 Services, and kube-proxy is moving to nftables ' +
      'as well. A file without mode was written for iptables: its iptables block is honoured.',
    choices: KUBE_PROXY_MODES,
    zeroIsUnset: true,
    change: 'restart',
  },
  detectLocalMode: {
    kind: 'text',
    about: 'how traffic of local pods is detected',
    kubeProxyDefault: 'ClusterCIDR',
    choices: LOCAL_TRAFFIC_MODES,
    zeroIsUnset: true,
    change: 'live',
  },
  'detectLocal.bridgeInterface': {
    kind: 'text',
    about: 'name of the pod bridge, for BridgeInterface',
    kubeProxyDefault: '',
    change: 'live',
  },
  'detectLocal.interfaceNamePrefix': {
    kind: 'text',
    about: 'prefix of the names of pod interfaces, for InterfaceNamePrefix',
    kubeProxyDefault: '',
    change: 'live',
  },
  clusterCIDR: {
    kind: 'text',
    about:
      'pod CIDR, for ClusterCIDR and for mode tc-ebpf: one CIDR, or one of each family separated by a comma',
    kubeProxyDefault: '',
    change: 'live',
  },
  nodePortAddresses: {
    kind: 'texts',
    about:
      'node addresses that serve node ports: CIDRs, "primary" for those of the Node object, "localhost", "all", or a combination. Loopback is served in mode iptables (iptables.localhostNodePorts), and in the other modes for TCP if it is listed explicitly and the feature gate KubeProxyNFTablesLocalhostNodePorts is enabled',
    kubeProxyDefault: [],
    defaultFollows:
      '"primary" in mode nftables and in the modes of fairlead.mode; all addresses in iptables, ipvs, and when no mode is set',
    why: 'With fairlead.nodeObject "none" the default is no node ports, and a list applies literally: a family without a CIDR has no node ports.',
    change: 'live',
  },
  'iptables.masqueradeBit': {
    kind: 'int32',
    about: 'bit of the packet mark that requests masquerading',
    kubeProxyDefault: 14,
    min: 0,
    max: 31,
    modes: IPTABLES_MASQUERADE,
    change: 'restart',
  },
  'iptables.masqueradeAll': {
    kind: 'boolean',
    about: 'masquerade all traffic to cluster IPs',
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
    about: 'longest delay before a failed change is retried; /healthz fails after twice this time',
    kubeProxyDefault: 30 * SECOND_MS,
    zeroIsUnset: true,
    aboveZero: true,
    modes: IPTABLES_SYNC,
    change: 'live',
  },
  'iptables.minSyncPeriod': {
    kind: 'duration',
    about: 'minimum time between two syncs',
    kubeProxyDefault: SECOND_MS,
    zeroIsUnset: true,
    min: 0,
    noEffect: AT_ONCE,
    modes: IPTABLES_SYNC,
    change: 'live',
  },
  'nftables.masqueradeBit': {
    kind: 'int32',
    about: 'bit of the packet mark that requests masquerading',
    kubeProxyDefault: 14,
    min: 0,
    max: 31,
    modes: NFTABLES,
    change: 'restart',
  },
  'nftables.masqueradeAll': {
    kind: 'boolean',
    about: 'masquerade all traffic to cluster IPs',
    kubeProxyDefault: false,
    modes: NFTABLES,
    change: 'live',
  },
  'nftables.syncPeriod': {
    kind: 'duration',
    about: 'longest delay before a failed change is retried; /healthz fails after twice this time',
    kubeProxyDefault: 30 * SECOND_MS,
    zeroIsUnset: true,
    aboveZero: true,
    modes: NFTABLES,
    change: 'live',
  },
  'nftables.minSyncPeriod': {
    kind: 'duration',
    about: 'minimum time between two syncs',
    kubeProxyDefault: SECOND_MS,
    zeroIsUnset: true,
    min: 0,
    noEffect: AT_ONCE,
    modes: NFTABLES,
    change: 'live',
  },
  'ipvs.syncPeriod': {
    kind: 'duration',
    about: 'longest delay before a failed change is retried; /healthz fails after twice this time',
    kubeProxyDefault: 30 * SECOND_MS,
    zeroIsUnset: true,
    aboveZero: true,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.minSyncPeriod': {
    kind: 'duration',
    about: 'minimum time between two syncs',
    kubeProxyDefault: 0,
    min: 0,
    noEffect: AT_ONCE,
    modes: IPVS,
    change: 'live',
  },
  'ipvs.scheduler': {
    kind: 'text',
    about:
      'IPVS scheduler of Services without the annotation fairlead.dev/ipvs-scheduler; mh also hashes the source port, as in kube-proxy',
    kubeProxyDefault: 'rr',
    zeroIsUnset: true,
    choices: IPVS_SCHEDULERS,
    modes: IPVS,
    change: 'restart',
  },
  'ipvs.excludeCIDRs': {
    kind: 'texts',
    about:
      'CIDRs of virtual servers that must not be deleted; Fairlead deletes only its own and, when it takes over, those of kube-proxy',
    kubeProxyDefault: [],
    modes: IPVS,
    change: 'restart',
  },
  'ipvs.strictARP': {
    kind: 'boolean',
    about: 'answer ARP only on the interface that has the address',
    kubeProxyDefault: false,
    noEffect:
      'Fairlead puts no Service address on an interface, so the node never answers ARP for one',
    modes: IPVS,
    change: 'live',
  },
  'ipvs.tcpTimeout': {
    kind: 'duration',
    about: 'timeout of idle TCP connections in IPVS; 0: that of conntrack',
    kubeProxyDefault: 0,
    min: 0,
    modes: IPVS,
    change: 'restart',
  },
  'ipvs.tcpFinTimeout': {
    kind: 'duration',
    about: 'timeout of TCP connections after a FIN in IPVS; 0: that of conntrack',
    kubeProxyDefault: 0,
    min: 0,
    modes: IPVS,
    change: 'restart',
  },
  'ipvs.udpTimeout': {
    kind: 'duration',
    about: 'timeout of idle UDP flows in IPVS; 0: that of conntrack',
    kubeProxyDefault: 0,
    min: 0,
    modes: IPVS,
    change: 'restart',
  },
} as const satisfies Record<string, FieldRow>;
