import { API_PORT } from '../../control-plane/credentials.ts';
import { CLUSTER_CIDR, FABRIC } from '../../network/plan.ts';
import { type FairleadMode, fairleadProxy } from '../../proxies/fairlead-modes.ts';

export const CONFIG_FOLDER = '/var/lib/kube-proxy';
export const CONFIG_FILE = 'config.conf';
const KUBECONFIG_FILE = 'kubeconfig.conf';
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The files of a proxy's ConfigMap, as kubeadm names them: kube-proxy's own configuration. */
export function configurationFiles(mode: FairleadMode): Record<string, string> {
  return {
    [CONFIG_FILE]: JSON.stringify(configuration(mode), null, 2),
    [KUBECONFIG_FILE]: JSON.stringify(kubeconfig(), null, 2),
  };
}

function configuration(mode: FairleadMode): object {
  const row = fairleadProxy(mode);
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: `${CONFIG_FOLDER}/${KUBECONFIG_FILE}` },
    ...(row.isOfKubeProxy ? { mode } : { mode: row.rules, fairlead: { mode } }),
    clusterCIDR: `${CLUSTER_CIDR.ipv4},${CLUSTER_CIDR.ipv6}`,
    // Specs read it from elsewhere than the node itself.
    metricsBindAddress: '0.0.0.0:10249',
    // The size of the conntrack table belongs to the whole machine: it stays as it is.
    conntrack: { maxPerCore: 0, min: 0 },
    ...(row.servesLoopback ? {} : NODE_PORTS_ON_LOOPBACK),
  };
}

/** Specs connect to node ports on 127.0.0.1: on by default in iptables, an option in other modes. */
const NODE_PORTS_ON_LOOPBACK = {
  featureGates: { KubeProxyNFTablesLocalhostNodePorts: true },
  nodePortAddresses: ['primary', 'localhost'],
};

/** The real address of the API server: its Service works only after the proxy does. */
function kubeconfig(): object {
  const server = `https://${FABRIC.ipv4}:${API_PORT}`;
  const authority = `${ACCOUNT_FOLDER}/ca.crt`;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'user', user: { tokenFile: `${ACCOUNT_FOLDER}/token` } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'user' } }],
    'current-context': 'lab',
  };
}
