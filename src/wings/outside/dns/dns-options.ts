import { InvalidArgumentError } from 'commander';
import { canonicalIp } from '../../../addresses/ip.ts';
import { Connection } from '../../../cluster/api-connection.ts';
import { RestClient } from '../../../cluster/rest-client.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { accessOf } from '../../../commands/open-source.ts';
import { buildConfig } from '../../../config/load-config.ts';
import type { Settings } from '../../../config/settings.ts';
import { dnsService } from '../cluster-facts.ts';
import { below } from '../paths.ts';
import { textOf } from '../write-files.ts';
import type { DnsPlan } from './dns-plan.ts';

export interface DnsOptions {
  readonly server?: readonly string[];
  readonly domain?: string;
  readonly config: string;
  readonly root: string;
  readonly program?: string;
  readonly output: 'text' | 'json';
}

export interface FoundPlan extends DnsPlan {
  /** Where the addresses come from. */
  readonly origin: string;
}

const DEFAULT_DOMAIN = 'cluster.local';

/** By the options, else by the configuration, else by the cluster. */
export async function findPlan(options: DnsOptions): Promise<FoundPlan> {
  const given = options.server ?? [];
  // As the unit does at boot: it must work with a configuration that has a fault, too.
  if (given.length > 0 && options.domain !== undefined) {
    return { servers: given, domain: options.domain, origin: 'from --server' };
  }
  const path = below(options.root, options.config);
  const text = await textOf(path);
  const settings = text === undefined ? undefined : buildConfig(new Map(), { path, text }).settings;
  const domain = options.domain ?? settings?.clusterDomain ?? DEFAULT_DOMAIN;
  if (given.length > 0) return { servers: given, domain, origin: 'from --server' };
  const configured = settings?.clusterDns ?? [];
  if (configured.length > 0) return { servers: configured, domain, origin: `from ${path}` };
  const found = settings === undefined ? undefined : await askCluster(settings);
  if (found !== undefined) return { ...found, domain };
  throw new CommandError("the address of the cluster's DNS is not known", {
    code: 'DNS_SERVER_UNKNOWN',
    next:
      settings === undefined
        ? `run \`fairlead outside init --apply\` first, which writes ${path}; or pass --server`
        : `pass --server, or set fairlead.clusterDNS in ${path}: kubectl get service -n kube-system -l k8s-app=kube-dns`,
  });
}

/** One for each `--server`. */
export function collectServer(text: string, earlier: readonly string[] | undefined): string[] {
  const address = canonicalIp(text);
  if (address === undefined)
    throw new InvalidArgumentError('Use an IP address, such as 10.96.0.10.');
  return [...(earlier ?? []), address];
}

export function domainFrom(text: string): string {
  const domain = text.replace(/\.$/, '').toLowerCase();
  const isDomain = domain
    .split('.')
    .every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  if (!isDomain) throw new InvalidArgumentError('not a DNS domain, such as cluster.local');
  return domain;
}

const DEADLINE_MS = 20_000;

/** The addresses of the cluster's DNS Service; undefined: it has none. Throws ClusterError. */
async function askCluster(
  settings: Settings,
): Promise<{ readonly servers: readonly string[]; readonly origin: string } | undefined> {
  const kubeconfig = settings.api.kubeconfigPath;
  const access = await accessOf({ isAgent: true, ...(kubeconfig && { kubeconfig }) });
  const connection = new Connection({ access, userAgent: 'fairlead' });
  try {
    const client = new RestClient(connection, AbortSignal.timeout(DEADLINE_MS));
    const found = await dnsService(client);
    if (found === undefined) return undefined;
    const { namespace, name, addresses } = found;
    return { servers: addresses, origin: `of Service ${namespace}/${name}` };
  } finally {
    connection.close();
  }
}
