import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../cluster/json.ts';
import type { RestClient } from '../../cluster/rest-client.ts';
import { coveringRanges } from './ranges.ts';

/** What the files of a machine outside need to know of the cluster. */
export interface ClusterFacts {
  /** Empty: the cluster has no ServiceCIDR objects. */
  readonly serviceRanges: readonly string[];
  /** Ranges that the Nodes give to pods, in one of each family. */
  readonly podRanges: readonly string[];
  readonly nodeCount: number;
  /** The Node that has each address. */
  readonly nodeAddresses: ReadonlyMap<string, string>;
  /** Undefined: no Service has the label of the cluster's DNS. */
  readonly dns: DnsFacts | undefined;
}

export interface DnsFacts {
  readonly namespace: string;
  readonly name: string;
  readonly addresses: readonly string[];
}

const DNS_NAMESPACE = 'kube-system';
/** Also that of CoreDNS. */
const DNS_LABEL = 'k8s-app=kube-dns';
const SERVICE_CIDRS = [
  '/apis/networking.k8s.io/v1/servicecidrs',
  '/apis/networking.k8s.io/v1beta1/servicecidrs',
];

export async function readClusterFacts(client: RestClient): Promise<ClusterFacts> {
  const nodes = (await client.list('/api/v1/nodes')) ?? [];
  return {
    serviceRanges: await serviceRanges(client),
    podRanges: coveringRanges(nodes.flatMap((node) => texts(recordAt(node, 'spec'), 'podCIDRs'))),
    nodeCount: nodes.length,
    nodeAddresses: new Map(nodes.flatMap(addressesOf)),
    dns: await dnsService(client),
  };
}

function addressesOf(node: JsonRecord): readonly (readonly [string, string])[] {
  const name = textAt(recordAt(node, 'metadata'), 'name');
  return arrayAt(recordAt(node, 'status'), 'addresses')
    .filter(isRecord)
    .map((each) => [textAt(each, 'address'), name] as const);
}

export async function serviceRanges(client: RestClient): Promise<readonly string[]> {
  for (const path of SERVICE_CIDRS) {
    const found = await client.list(path);
    if (found === undefined) continue;
    return [...new Set(found.flatMap((each) => texts(recordAt(each, 'spec'), 'cidrs')))];
  }
  return [];
}

export async function dnsService(client: RestClient): Promise<DnsFacts | undefined> {
  const path = `/api/v1/namespaces/${DNS_NAMESPACE}/services`;
  const found = (await client.list(path, { labelSelector: DNS_LABEL })) ?? [];
  const services = found.filter(isRecord).map((service) => ({
    namespace: DNS_NAMESPACE,
    name: textAt(recordAt(service, 'metadata'), 'name'),
    addresses: texts(recordAt(service, 'spec'), 'clusterIPs').filter((ip) => ip !== 'None'),
  }));
  return services.find(({ addresses }) => addresses.length > 0);
}

/** Those of the namespaces that do not exist. */
export async function missingNamespaces(
  client: RestClient,
  names: readonly string[],
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const name of new Set(names)) {
    const found = await client.get(`/api/v1/namespaces/${encodeURIComponent(name)}`);
    if (found === undefined) missing.push(name);
  }
  return missing;
}

function texts(parent: JsonRecord, name: string): readonly string[] {
  return arrayAt(parent, name).filter((item) => typeof item === 'string');
}
