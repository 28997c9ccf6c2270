import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { CLUSTER_CIDR } from '../network/plan.ts';
import { POD_LINK_PREFIX } from '../network/pod-link.ts';
import { POD_BRIDGE } from '../network/topology.ts';
import type { ProxyPlace, ProxySettings, ProxyVariant } from './contract.ts';

const METRICS_PORT = 10249;
const LAST_SYNC = 'kubeproxy_sync_proxy_rules_last_timestamp_seconds';

interface UpstreamOptions {
  readonly name: string;
  readonly description: string;
  readonly mode: 'nftables' | 'iptables';
  /** The multi-call program that `iptables` and its relatives shall be. */
  readonly iptables: 'xtables-nft-multi' | 'xtables-legacy-multi';
}

export const UPSTREAM_VARIANTS: readonly ProxyVariant[] = [
  upstream({
    name: 'upstream-nftables',
    description: 'kube-proxy v1.36.4, nftables mode',
    mode: 'nftables',
    iptables: 'xtables-nft-multi',
  }),
  upstream({
    name: 'upstream-iptables',
    description: 'kube-proxy v1.36.4, iptables mode on the nft backend',
    mode: 'iptables',
    iptables: 'xtables-nft-multi',
  }),
  upstream({
    name: 'upstream-iptables-legacy',
    description: 'kube-proxy v1.36.4, iptables mode on the legacy backend',
    mode: 'iptables',
    iptables: 'xtables-legacy-multi',
  }),
];

function upstream(options: UpstreamOptions): ProxyVariant {
  return {
    name: options.name,
    description: options.description,
    // kube-proxy v1.36.4 asks for the Node's events before it says who wants to hear of zones; an
    // event that arrives in between is remembered as told, and the hints of endpoints are ignored
    // until the label changes. About one start in twenty on a busy machine.
    mayMissZoneAtStart: true,
    async prepare(place) {
      const configFile = join(place.folder, 'kube-proxy.json');
      await writeFile(configFile, JSON.stringify(configuration(options.mode, place), null, 2));
      const tools = await linkIptables(join(place.folder, 'bin'), options.iptables);
      return {
        argv: [place.parts['kube-proxy'], `--config=${configFile}`, '--v=2'],
        env: {
          PATH: `${tools}${delimiter}${process.env['PATH'] ?? ''}`,
          // The lock is a file, and files are not part of a network namespace: without its own,
          // every node of every lab, and the host, would wait for each other.
          XTABLES_LOCKFILE: join(place.folder, 'xtables.lock'),
        },
      };
    },
    // kube-proxy answers its health checks before the first sync; this metric does not.
    async synced(read) {
      const metrics = (await read(METRICS_PORT, '/metrics')) ?? '';
      return ['IPv4', 'IPv6'].every((family) => {
        const line = `${LAST_SYNC}{ip_family="${family}"} `;
        const value = metrics.split('\n').find((text) => text.startsWith(line));
        return value !== undefined && Number(value.slice(line.length)) > 0;
      });
    },
  };
}

function configuration(mode: 'nftables' | 'iptables', place: ProxyPlace): object {
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
    iptables: { ...modeSettings, localhostNodePorts: settings.localhostNodePorts ?? true },
    nftables: modeSettings,
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

const IPTABLES_COMMANDS = ['iptables', 'ip6tables'].flatMap((name) => [
  name,
  `${name}-save`,
  `${name}-restore`,
]);

/** A folder in which `iptables` means one backend, whatever the host's default is. */
async function linkIptables(folder: string, program: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all(
    IPTABLES_COMMANDS.map((name) => symlink(`/usr/sbin/${program}`, join(folder, name))),
  );
  return folder;
}
