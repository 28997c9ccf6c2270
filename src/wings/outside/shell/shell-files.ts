import { stringify } from 'yaml';
import type { TlsMaterial } from '../../../cluster/access.ts';

/** Names of the files in the folder of a shell. */
export const SHELL_FILES = {
  config: 'config.conf',
  kubeconfig: 'kubeconfig',
  token: 'token',
  relay: 'api.sock',
  run: 'run',
  log: 'agent.log',
  resolv: 'resolv.conf',
  nsswitch: 'nsswitch.conf',
  /** Written inside when the namespaces are there. */
  inside: 'inside',
  /** Written outside when it is decided how other networks are reached. */
  network: 'network',
} as const;

/** A range that networks for benchmarks have (RFC 2544), and so hardly any other. */
export const GATEWAY_RANGE = '198.18.118.0/24';
export const GATEWAY_DNS = '198.18.118.3';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Access through the relay. The token is in a file, which is renewed outside. */
export function shellKubeconfig(api: {
  readonly server: URL;
  readonly tls: TlsMaterial;
  readonly tokenFile: string | undefined;
  readonly relay: string;
}): string {
  const { tls } = api;
  const cluster = {
    server: api.server.href,
    'proxy-url': `unix://${encodeURI(api.relay)}`,
    ...(tls.certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': base64(tls.certificateAuthority) }),
    ...(tls.serverName === undefined ? {} : { 'tls-server-name': tls.serverName }),
    ...(tls.isUnverified ? { 'insecure-skip-tls-verify': true } : {}),
  };
  const user = {
    ...(api.tokenFile === undefined ? {} : { tokenFile: api.tokenFile }),
    ...(tls.clientCertificate === undefined || tls.clientKey === undefined
      ? {}
      : {
          'client-certificate-data': base64(tls.clientCertificate),
          'client-key-data': base64(tls.clientKey.reveal()),
        }),
  };
  const context = { cluster: 'cluster', user: 'user' };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'context', context }],
    'current-context': 'context',
  });
}

export function shellConfig(settings: {
  readonly kubeconfig: string;
  readonly namespaces: readonly string[];
  readonly clusterDomain: string;
  /** Lowering it needs a right that a user does not have. */
  readonly oomScoreAdj: number;
}): string {
  const scope =
    settings.namespaces.length === 0 ? {} : { scope: { namespaces: settings.namespaces } };
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: settings.kubeconfig },
    oomScoreAdj: settings.oomScoreAdj,
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    fairlead: {
      nodeObject: 'none',
      // Its user may have no right to read the ranges, and only this command meets the rules.
      servedAddresses: ['allClusterIPs'],
      podNetwork: 'api-server',
      dnsStub: '127.0.0.1:53',
      // Every address of a Service has a route of its own.
      serviceRoutes: 'none',
      clusterDomain: settings.clusterDomain,
      ...scope,
    },
  });
}

/** Names of the cluster are asked of the stub; a resolver asks its next server for those it refuses. */
export function resolvConf(network: {
  readonly namespace: string;
  readonly clusterDomain: string;
  readonly hasOtherNetworks: boolean;
}): string {
  const { namespace, clusterDomain } = network;
  const search = [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return [
    'nameserver 127.0.0.1',
    ...(network.hasOtherNetworks ? [`nameserver ${GATEWAY_DNS}`] : []),
    `search ${search.join(' ')}`,
    'options ndots:2 timeout:2',
    '',
  ].join('\n');
}

/** Without modules that ask a service of the machine, which does not know the cluster's names. */
export function nsswitchConf(text: string): string {
  return text.replace(/^hosts:.*$/m, 'hosts: files dns');
}
