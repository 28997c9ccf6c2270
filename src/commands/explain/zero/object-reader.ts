import type { Connection } from '../../../cluster/api-connection.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { isName } from '../../../cluster/narrow/meta.ts';
import { RestClient } from '../../../cluster/rest-client.ts';
import {
  type Labels,
  labelsText,
  MOST_OBJECTS,
  matches,
} from '../../../explain/zero/surroundings.ts';
import { labelsAt } from './service-there.ts';

/** Reads objects of one namespace: of a cluster, or of manifests. Throws ClusterError. */
export interface ObjectReader {
  readonly from: 'cluster' | 'manifests';
  /** Undefined: it does not exist. */
  get(kind: ReadKind, name: string): Promise<JsonRecord | undefined>;
  /** With these labels; the first ones. */
  list(kind: ReadKind, labels?: Labels): Promise<readonly JsonRecord[]>;
}

export type ReadKind = keyof typeof PATHS;

const PATHS = {
  Service: { base: '/api/v1', plural: 'services' },
  Pod: { base: '/api/v1', plural: 'pods' },
  Endpoints: { base: '/api/v1', plural: 'endpoints' },
  EndpointSlice: { base: '/apis/discovery.k8s.io/v1', plural: 'endpointslices' },
  Deployment: { base: '/apis/apps/v1', plural: 'deployments' },
  StatefulSet: { base: '/apis/apps/v1', plural: 'statefulsets' },
  DaemonSet: { base: '/apis/apps/v1', plural: 'daemonsets' },
} as const;

export function pluralOf(kind: ReadKind): string {
  return PATHS[kind].plural;
}

export function clusterReader(
  connection: Connection,
  namespace: string,
  signal: AbortSignal,
): ObjectReader {
  const client = new RestClient(connection, signal);
  const pathOf = (kind: ReadKind): string => {
    const { base, plural } = PATHS[kind];
    return `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  };
  return {
    from: 'cluster',
    get: async (kind, name) => await client.get(`${pathOf(kind)}/${encodeURIComponent(name)}`),
    list: async (kind, labels = {}) => {
      const text = labelsText(labels);
      const query = new URLSearchParams({
        limit: String(MOST_OBJECTS),
        ...(text === '' ? {} : { labelSelector: text }),
      });
      const page = await client.get(`${pathOf(kind)}?${query}`);
      return page === undefined ? [] : arrayAt(page, 'items').filter(isRecord);
    },
  };
}

export function manifestReader(objects: readonly JsonRecord[], namespace: string): ObjectReader {
  const all = (kind: ReadKind): readonly JsonRecord[] =>
    objects.filter((each) => {
      const metadata = recordAt(each, 'metadata');
      const own = textAt(metadata, 'namespace') || 'default';
      // A name goes into commands to paste: one with a dash in front would be an option.
      const isNamed = isName(textAt(metadata, 'name'));
      return textAt(each, 'kind') === kind && own === namespace && isNamed;
    });
  const named = (name: string) => (each: JsonRecord) =>
    textAt(recordAt(each, 'metadata'), 'name') === name;
  return {
    from: 'manifests',
    // Of several the last one counts, as for the rows.
    get: async (kind, name) => all(kind).findLast(named(name)),
    list: async (kind, labels = {}) =>
      all(kind)
        .filter((each) => matches(labels, labelsAt(recordAt(each, 'metadata'), 'labels')))
        .slice(0, MOST_OBJECTS),
  };
}
