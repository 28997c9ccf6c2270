import { CLUSTER_CIDR } from '../network/plan.ts';
import { POD_LINK_PREFIX } from '../network/pod-link.ts';
import { POD_BRIDGE } from '../network/topology.ts';
import type { ProxyPlace, ProxySettings } from './contract.ts';
import type { SharedMode } from './fairlead-modes.ts';

export const METRICS_PORT = 10249;
const LAST_SYNC = 'kubeproxy_sync_proxy_rules_last_timestamp_seconds';

/** Health checks may be answered before the first sync; this metric is not. */
export function hasSyncedFamilies(metrics: string): boolean {
  return ['IPv4', 'IPv6'].every((family) => {
    const line = `${LAST_SYNC}{ip_family="${family}"} `;
    const value = metrics.split('\n').find((text) => text.startsWith(line));
    return value !== undefined && Number(value.slice(line.length)) > 0;
  });
}

/** The same file for every proxy: kube-proxy's own. */
export function proxyConfiguration(mode: SharedMode, place: ProxyPlace): object {
  const { settings } = place;
  const modeSettings = { masqueradeAll: settings.masqueradeAll ?? false };
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: place.credentials.proxyKubeconfig },
    mode,
    hostnameOverride: place.nodeName,
    clusterCIDR: `${CLUSTER_CIDR.ipv4},${CLUSTER_CIDR.ipv6}`,
    ...detection(settings),
    ...(settings.nodePortAddresses ? { nodePortAddresses: settings.nodePortAddresses } : {}),
    ...(settings.featureGates ? { featureGates: settings.featureGates } : {}),
    iptables: { ...modeSettings, localhostNodePorts: settings.localhostNodePorts ?? true },
    nftables: modeSettings,
    // Mode ipvs masquerades as the block of iptables says.
    ...(settings.ipvsScheduler ? { ipvs: { scheduler: settings.ipvsScheduler } } : {}),
    // The size of the conntrack table belongs to the whole machine: it stays as it is.
    conntrack: { maxPerCore: 0, min: 0 },
  };
}

function detection(settings: ProxySettings): object {
  return {
    detectLocalMode: settings.detectLocalMode ?? 'ClusterCIDR',
    detectLocal: { bridgeInterface: POD_BRIDGE, interfaceNamePrefix: POD_LINK_PREFIX },
  };
}
