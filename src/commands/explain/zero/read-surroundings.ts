import { once } from 'node:events';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import { SERVICE_LABEL } from '../../../explain/zero/empty-row.ts';
import {
  type Known,
  knownOf,
  labelsText,
  type PodThere,
  type ServiceThere,
  type SliceThere,
  type Surroundings,
  type WorkloadThere,
} from '../../../explain/zero/surroundings.ts';
import { type ObjectReader, pluralOf, type ReadKind } from './object-reader.ts';
import { podThere, workloadThere } from './pod-there.ts';
import { legacyAddresses, serviceThere, sliceThere } from './service-there.ts';

const WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

/** Reads the objects around a Service, as many as it takes; what fails is not known. */
export async function readSurroundings(
  reader: ObjectReader,
  name: string,
  late: AbortSignal,
): Promise<Surroundings> {
  const read = new Attempts(reader, late);
  const [service, own] = await Promise.all([
    read.get('Service', name, serviceThere),
    read.list('EndpointSlice', sliceThere, { [SERVICE_LABEL]: name }),
  ]);
  const [pods, slices, legacyEndpoints] = await Promise.all([
    podsOf(read, service),
    isEmpty(own) ? read.list('EndpointSlice', sliceThere) : own,
    isEmpty(own) ? read.get('Endpoints', name, legacyAddresses) : { known: undefined },
  ]);
  const workloads = await workloadsOf(read, service, pods);
  return { from: reader.from, service, slices, pods, workloads, legacyEndpoints };
}

/** A Pod by its name, with the fields that tell why it serves nobody. */
export async function readPodThere(
  reader: ObjectReader,
  name: string,
  late: AbortSignal,
): Promise<PodThere | undefined> {
  return knownOf(await new Attempts(reader, late).get('Pod', name, podThere));
}

/** Reads that fail into a word. */
class Attempts {
  readonly #reader: ObjectReader;
  readonly #late: AbortSignal;

  constructor(reader: ObjectReader, late: AbortSignal) {
    this.#reader = reader;
    this.#late = late;
  }

  async get<T>(
    kind: ReadKind,
    name: string,
    narrow: (raw: Parameters<typeof serviceThere>[0]) => T,
  ): Promise<Known<T | undefined>> {
    return await this.#known(kind, async () => {
      const raw = await this.#reader.get(kind, name);
      return raw === undefined ? undefined : narrow(raw);
    });
  }

  async list<T>(
    kind: ReadKind,
    narrow: (raw: Parameters<typeof serviceThere>[0]) => T,
    labels?: Readonly<Record<string, string>>,
  ): Promise<Known<readonly T[]>> {
    return await this.#known(kind, async () => (await this.#reader.list(kind, labels)).map(narrow));
  }

  async #known<T>(kind: ReadKind, read: () => Promise<T>): Promise<Known<T>> {
    const what = pluralOf(kind);
    try {
      return { known: await beforeLate(read(), this.#late) };
    } catch (error) {
      if (this.#late.aborted) return { unknown: `the API server did not give ${what} in time` };
      if (error instanceof ClusterError) {
        return { unknown: `${what} cannot be read with your credentials: ${error.message}` };
      }
      throw error;
    }
  }
}

/** Opening a connection takes as long as it takes: nobody waits for it beyond the deadline. */
export async function beforeLate<T>(reading: Promise<T>, late: AbortSignal): Promise<T> {
  late.throwIfAborted();
  const done = new AbortController();
  const over = once(late, 'abort', { signal: done.signal }).then(() => late.throwIfAborted());
  try {
    return (await Promise.race([reading, over])) as T;
  } finally {
    over.catch(() => undefined);
    done.abort();
  }
}

async function podsOf(
  read: Attempts,
  service: Known<ServiceThere | undefined>,
): Promise<Known<readonly PodThere[]>> {
  if ('unknown' in service) return service;
  const selector = service.known?.selector ?? {};
  if (labelsText(selector) === '') return { known: [] };
  const matching = await read.list('Pod', podThere, selector);
  return isNothing(matching) ? await read.list('Pod', podThere) : matching;
}

async function workloadsOf(
  read: Attempts,
  service: Known<ServiceThere | undefined>,
  pods: Known<readonly PodThere[]>,
): Promise<Known<readonly WorkloadThere[]>> {
  const selector = knownOf(service)?.selector ?? {};
  const matching = (knownOf(pods) ?? []).filter(({ labels }) =>
    Object.entries(selector).every(([key, value]) => labels[key] === value),
  );
  if (labelsText(selector) === '' || matching.length > 0) return { known: [] };
  const all = await Promise.all(
    WORKLOADS.map((kind) => read.list(kind, (raw) => workloadThere(kind, raw))),
  );
  const unread = all.find((each) => 'unknown' in each);
  return unread ?? { known: all.flatMap((each) => knownOf(each) ?? []) };
}

function isNothing<T>(read: Known<readonly T[]>): boolean {
  return 'known' in read && read.known.length === 0;
}

function isEmpty(slices: Known<readonly SliceThere[]>): boolean {
  return 'known' in slices && slices.known.every(({ addresses }) => addresses.length === 0);
}
