import { homedir } from 'node:os';
import { Connection } from '../../../cluster/api-connection.ts';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import { STANDARD_INPUT } from '../../../cluster/manifests/manifest-files.ts';
import type { PodThere, Surroundings } from '../../../explain/zero/surroundings.ts';
import type { Basis } from '../../basis/basis.ts';
import { accessOf, kubeconfigFiles } from '../../open-source.ts';
import { objectsOfManifests } from '../manifest-objects.ts';
import { clusterReader, manifestReader, type ObjectReader } from './object-reader.ts';
import { beforeLate, readPodThere, readSurroundings } from './read-surroundings.ts';

/** Somebody waits for the answer, which is complete without what is read here. */
const DEADLINE_MS = 5_000;

/** What is read where: by the objects of the question, with the rights of the person. */
export interface AskedSurroundings {
  readonly basis: Basis;
  /** Of the kubeconfig. */
  readonly context?: string | undefined;
  /** `namespace/name` of the Service. */
  readonly service: string;
  /** A cluster IP that it has on this node; undefined: none. */
  readonly clusterIP?: string | undefined;
}

/** The objects around a Service, or why they are not known. */
export async function surroundingsOf(asked: AskedSurroundings): Promise<Surroundings> {
  const [, name = ''] = asked.service.split('/');
  const read = (reader: ObjectReader, late: AbortSignal) => readSurroundings(reader, name, late);
  const found = await withReader(asked, read);
  if (typeof found === 'string') return nothingRead(found);
  return isSameCluster(found, asked) ? found : nothingRead(OTHER_CLUSTER);
}

/** Undefined: it does not exist, or cannot be read. */
export async function podThereOf(
  asked: AskedSurroundings,
  pod: string,
): Promise<PodThere | undefined> {
  const [namespace = '', name = ''] = pod.split('/');
  const there = { ...asked, service: `${namespace}/` };
  const found = await withReader(there, (reader, late) => readPodThere(reader, name, late));
  return typeof found === 'string' ? undefined : found;
}

/** `why`: for people; empty: nobody tried. */
export function nothingRead(why: string): Surroundings {
  const unknown = { unknown: why };
  return {
    from: 'cluster',
    service: unknown,
    slices: unknown,
    pods: unknown,
    workloads: unknown,
    legacyEndpoints: unknown,
  };
}

/** In the pod of the agent its account would be used instead of the rights of a person. */
const NO_KUBECONFIG =
  'no kubeconfig was found (KUBECONFIG, ~/.kube/config), and the account of the agent cannot read pods';

const OTHER_CLUSTER =
  'your kubeconfig is for a cluster where this Service does not exist or has another clusterIP; set KUBECONFIG to one for the cluster of this node';

/** Of the agent's cluster; the person may have the kubeconfig of another. */
function isSameCluster({ service }: Surroundings, { basis, clusterIP }: AskedSurroundings) {
  if (basis.by !== 'agent' || clusterIP === undefined || 'unknown' in service) return true;
  return service.known?.clusterIPs.includes(clusterIP) === true;
}

/** Gives a text where nothing can be read: why. */
async function withReader<T>(
  { basis, context, service }: AskedSurroundings,
  use: (reader: ObjectReader, late: AbortSignal) => Promise<T>,
): Promise<T | string> {
  const { from, config } = basis.by === 'agent' ? basis.apart : basis;
  const [namespace = ''] = service.split('/');
  const late = AbortSignal.timeout(DEADLINE_MS);
  if (from.filename?.includes(STANDARD_INPUT)) return 'standard input can be read only once';
  if (from.filename !== undefined) {
    return await use(manifestReader(await objectsOfManifests(from.filename), namespace), late);
  }
  const home = homedir();
  if (basis.by === 'agent' && kubeconfigFiles({ env: process.env, home }).length === 0) {
    return NO_KUBECONFIG;
  }
  const kubeconfig = basis.by === 'agent' ? undefined : config.settings.api.kubeconfigPath;
  let connection: Connection | undefined;
  try {
    const access = await beforeLate(accessOf({ kubeconfig, context }), late);
    connection = new Connection({ access, userAgent: 'fairlead' });
    return await use(clusterReader(connection, namespace, late), late);
  } catch (error) {
    if (late.aborted) return 'your kubeconfig gave no credentials in time';
    if (error instanceof ClusterError) return `${error.message}: ${error.next}`;
    throw error;
  } finally {
    connection?.close();
  }
}
