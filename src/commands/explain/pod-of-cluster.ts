import { canonicalIp } from '../../addresses/ip.ts';
import { Connection } from '../../cluster/api-connection.ts';
import { ClusterError } from '../../cluster/cluster-error.ts';
import {
  arrayAt,
  booleanAt,
  isRecord,
  type JsonRecord,
  recordAt,
  textAt,
} from '../../cluster/json.ts';
import { RestClient } from '../../cluster/rest-client.ts';
import { conntrackFill } from '../../linux/conntrack/table-use.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import { CommandError } from '../command-error.ts';
import { accessOf, type SourceOptions } from '../open-source.ts';
import { objectsOfManifests } from './manifest-objects.ts';

const DEADLINE_MS = 10_000;
/** As `doctor` judges. */
const FULL = 0.95;

/** The fields of a Pod that say where its connections come from. */
export interface Pod {
  /** `namespace/name`. */
  readonly name: string;
  /** Canonical. */
  readonly addresses: readonly string[];
  /** Empty: not scheduled, or not known. */
  readonly nodeName: string;
  readonly isHostNetwork: boolean;
  /** Its condition Ready in words; undefined: it has none. */
  readonly says?: string;
}

function readPod(raw: JsonRecord): Pod {
  const [metadata, spec, status] = ['metadata', 'spec', 'status'].map((each) =>
    recordAt(raw, each),
  ) as [JsonRecord, JsonRecord, JsonRecord];
  const listed = arrayAt(status, 'podIPs')
    .filter(isRecord)
    .map((each) => textAt(each, 'ip'));
  const addresses = [textAt(status, 'podIP'), ...listed].flatMap((ip) => canonicalIp(ip) ?? []);
  const says = readiness(status);
  return {
    name: `${textAt(metadata, 'namespace') || 'default'}/${textAt(metadata, 'name')}`,
    addresses: [...new Set(addresses)],
    nodeName: textAt(spec, 'nodeName'),
    isHostNetwork: booleanAt(spec, 'hostNetwork') === true,
    ...(says === undefined ? {} : { says }),
  };
}

/** `Ready=False, ContainersNotReady: containers with unready status: [web]`. */
function readiness(status: JsonRecord): string | undefined {
  const ready = arrayAt(status, 'conditions')
    .filter(isRecord)
    .find((condition) => textAt(condition, 'type') === 'Ready');
  if (ready === undefined) return undefined;
  const [is, reason, message] = ['status', 'reason', 'message'].map((each) => textAt(ready, each));
  const why = [reason, message].filter(Boolean).join(': ');
  return `Ready=${is}${why === '' ? '' : `, ${why}`}`;
}

/**
 * Reads a Pod with the credentials of the person who asks: those of the agent cannot read pods.
 * Undefined: it does not exist. Throws ClusterError.
 */
export async function podOfCluster(
  name: string,
  access: Pick<SourceOptions, 'kubeconfig' | 'context'>,
): Promise<Pod | undefined> {
  const [namespace = '', pod = ''] = name.split('/');
  const connection = new Connection({ access: await accessOf(access), userAgent: 'fairlead' });
  try {
    const client = new RestClient(connection, AbortSignal.timeout(DEADLINE_MS));
    const path = [namespace, 'pods', pod].map(encodeURIComponent).join('/');
    const raw = await client.get(`/api/v1/namespaces/${path}`);
    return raw === undefined ? undefined : readPod(raw);
  } catch (cause) {
    if (!(cause instanceof ClusterError)) throw cause;
    throw unreadable(name, cause, conntrackFill(kernelSysctls()));
  } finally {
    connection.close();
  }
}

/** A full table takes the connection to the API server as it takes those of clients. */
export function unreadable(
  name: string,
  cause: ClusterError,
  conntrack: ReturnType<typeof conntrackFill>,
): CommandError {
  const { entries = 0, limit = 0 } = conntrack ?? {};
  const isFull = cause.status === undefined && limit > 0 && entries >= FULL * limit;
  if (!isFull) {
    return new CommandError(`cannot read pod ${name} with your credentials: ${cause.message}`, {
      code: cause.code,
      next: `${cause.next}; or give its address instead`,
      cause,
    });
  }
  const room = `${entries.toLocaleString('en-US')} of ${limit.toLocaleString('en-US')} entries`;
  return new CommandError(
    `cannot read pod ${name}: conntrack of this machine is full (${room}), and has no room for a connection to the API server`,
    {
      code: 'CONNTRACK_FULL',
      next: 'raise net.netfilter.nf_conntrack_max; or give the address of the pod instead of its name',
      cause,
    },
  );
}

/**
 * A Pod of manifests: by its object, else by the endpoint of an EndpointSlice that names it.
 * Undefined: neither is there.
 */
export async function podOfManifests(
  name: string,
  paths: readonly string[],
): Promise<Pod | undefined> {
  const objects = await objectsOfManifests(paths);
  const pod = objects
    .filter((each) => textAt(each, 'kind') === 'Pod')
    .map(readPod)
    .find((each) => each.name === name);
  return pod ?? podOfSlices(name, objects);
}

function podOfSlices(name: string, objects: readonly JsonRecord[]): Pod | undefined {
  const addresses = new Set<string>();
  let nodeName = '';
  for (const slice of objects) {
    if (textAt(slice, 'kind') !== 'EndpointSlice') continue;
    const namespace = textAt(recordAt(slice, 'metadata'), 'namespace') || 'default';
    for (const endpoint of arrayAt(slice, 'endpoints').filter(isRecord)) {
      const target = recordAt(endpoint, 'targetRef');
      const isPod = textAt(target, 'kind') === 'Pod';
      const owner = `${textAt(target, 'namespace') || namespace}/${textAt(target, 'name')}`;
      if (!isPod || owner !== name) continue;
      nodeName = textAt(endpoint, 'nodeName');
      for (const text of arrayAt(endpoint, 'addresses')) {
        const address = typeof text === 'string' ? canonicalIp(text) : undefined;
        if (address !== undefined) addresses.add(address);
      }
    }
  }
  if (addresses.size === 0) return undefined;
  return { name, addresses: [...addresses], nodeName, isHostNetwork: false };
}
