import { Connection } from '../../../cluster/api-connection.ts';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt } from '../../../cluster/json.ts';
import { type Resource, SERVICES, SLICES, urlOf } from '../../../cluster/resources.ts';
import { RestClient } from '../../../cluster/rest-client.ts';
import { readServerVersion } from '../../../cluster/server-version.ts';
import { partsOf, resourceOf } from '../../../cluster/watch-scope.ts';
import { configuredAccess } from '../../../commands/open-source.ts';
import type { Settings } from '../../../config/settings.ts';
import { dnsService, serviceRanges as readServiceRanges } from '../cluster-facts.ts';
import { type ListedEndpoint, type ListedService, readEndpoints, readService } from './listed.ts';

/** A check reads a sample: at most this many objects of each list. */
const MOST_LISTED = '500';
const HTTP_FORBIDDEN = 403;

/** What the account of this machine sees of the cluster. */
export interface ClusterView {
  readonly client: RestClient;
  readonly server: string;
  /** Undefined: the server did not say. */
  readonly version: string | undefined;
  /** The bearer token; never printed. */
  readonly token: string | undefined;
  readonly services: readonly ListedService[];
  readonly endpoints: readonly ListedEndpoint[];
  /** Lists of the scope that the account may not read. */
  readonly forbidden: readonly string[];
  /** The configured ones, else those of the cluster. Empty: not known. */
  readonly serviceRanges: readonly string[];
  /** Of the ServiceCIDR objects. Empty: there is none, or the account may not read them. */
  readonly declaredRanges: readonly string[];
  /** Empty: not known. */
  readonly dnsAddresses: readonly string[];
}

/** Lists what the configuration names. Throws ClusterError. */
export async function readCluster(settings: Settings, signal: AbortSignal): Promise<ClusterView> {
  const access = await configuredAccess(settings);
  const connection = new Connection({ access, userAgent: 'fairlead' });
  signal.addEventListener('abort', () => connection.close(), { once: true });
  const { version } = await readServerVersion(connection, signal);
  const client = new RestClient(connection, signal);
  const forbidden: string[] = [];
  const list = async (resource: Resource): Promise<readonly JsonRecord[]> =>
    (await ifAllowed(
      () => client.get(urlOf(resource, { limit: MOST_LISTED })),
      () => {
        forbidden.push(nameOf(resource));
      },
    ).then((page) => (page ? arrayAt(page, 'items').filter(isRecord) : []))) ?? [];
  const resources = settings.scope ? partsOf(settings.scope).map(resourceOf) : [SERVICES, SLICES];
  const objects = new Map<string, JsonRecord[]>([
    ['service', []],
    ['slice', []],
  ]);
  for (const resource of resources) {
    objects.get(resource.kind)?.push(...(await list(resource)));
  }
  const declaredRanges = (await ifAllowed(() => readServiceRanges(client))) ?? [];
  return {
    client,
    server: access.server.host,
    version,
    token: (await access.token())?.reveal(),
    services: (objects.get('service') ?? []).flatMap(readService),
    endpoints: (objects.get('slice') ?? []).flatMap(readEndpoints),
    forbidden,
    serviceRanges: settings.serviceRanges.length > 0 ? settings.serviceRanges : declaredRanges,
    declaredRanges,
    dnsAddresses: await dnsAddresses(settings, client),
  };
}

async function dnsAddresses(settings: Settings, client: RestClient): Promise<readonly string[]> {
  if (settings.clusterDns.length > 0) return settings.clusterDns;
  return (await ifAllowed(() => dnsService(client)))?.addresses ?? [];
}

/** Undefined: the account lacks the right. */
async function ifAllowed<T>(
  read: () => Promise<T>,
  onForbidden?: () => void,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ClusterError) || error.status !== HTTP_FORBIDDEN) throw error;
    onForbidden?.();
    return undefined;
  }
}

function nameOf({ kind, part }: Resource): string {
  const plural = kind === 'service' ? 'services' : 'endpointslices';
  return part === undefined ? plural : `${plural} of ${part}`;
}

/** What an account may do; without a namespace, in all of them. */
export interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly group?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export async function mayDo(client: RestClient, attributes: Right): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: attributes },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const answer = await ifAllowed(() => client.create(path, review));
  return answer !== undefined && recordAt(answer, 'status')['allowed'] === true;
}

export function clusterIpOf(
  services: readonly ListedService[],
  name: string,
): readonly string[] | undefined {
  return services.find((service) => service.key === name)?.clusterIPs;
}
