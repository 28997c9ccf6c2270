import type { ApiClient } from '../../../lab/api/client.ts';
import { paths } from '../../../lab/api/objects.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { sleep } from '../../../src/time/sleep.ts';

const SERVICES_PER_NAMESPACE = 100;
const ROLLED = 'rolled';
const ROLLED_ENDPOINTS = 10;
/** Services of the load with an endpoint on the node that comes and goes. */
const FLAPPING = { first: 50, count: 20 } as const;

/** What was missed while the machine stood still for longer than this is not made up for. */
const CATCH_UP_MS = 1_000;

export interface Paced {
  /** Writes that the API server has accepted. */
  readonly count: number;
  /** Those that it has not answered in time: the next one says what is wanted then. */
  readonly missed: number;
}

/** Calls `write` so often, however long each takes; never more than `most` at once. */
export async function paced(
  write: (serial: number) => Promise<void>,
  of: { readonly everyMs: number; readonly most: number; readonly signal: AbortSignal },
): Promise<Paced> {
  const running = new Set<Promise<void>>();
  let [serial, missed] = [0, 0];
  let nextMs = performance.now();
  const attempt = async (): Promise<void> => {
    try {
      await write(serial++);
    } catch (error) {
      if (!(error instanceof LabError) || error.code !== 'LAB_API_SILENT') throw error;
      missed++;
    }
  };
  while (!of.signal.aborted) {
    const writing: Promise<void> = attempt().finally(() => running.delete(writing));
    running.add(writing);
    if (running.size >= of.most) await Promise.race(running);
    nextMs = Math.max(nextMs + of.everyMs, performance.now() - CATCH_UP_MS);
    const restMs = nextMs - performance.now();
    if (restMs > 0) await sleep(restMs, of.signal);
  }
  await Promise.all(running);
  return { count: serial - missed, missed };
}

/** A Service whose pods are replaced one after the other, for ever, as a Deployment does it. */
export async function createRolled(api: ApiClient): Promise<void> {
  await api.create(paths.services('default'), {
    metadata: { name: ROLLED },
    spec: { ports: [{ port: 80, targetPort: 8080 }] },
  });
  await api.create(paths.slices('default'), {
    metadata: { name: ROLLED, labels: { 'kubernetes.io/service-name': ROLLED } },
    addressType: 'IPv4',
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    endpoints: [],
  });
}

/** A new pod that is not ready, the same pod ready and an old one terminating, the old one gone. */
export async function rollOnce(api: ApiClient, serial: number): Promise<void> {
  const generation = Math.floor(serial / 3);
  const step = serial % 3;
  const old = Array.from({ length: ROLLED_ENDPOINTS }, (_, index) => ({
    addresses: [rolledAddress(generation + index)],
    conditions:
      index === 0 && step > 0
        ? { ready: false, serving: true, terminating: true }
        : { ready: true, serving: true, terminating: false },
  }));
  const added = {
    addresses: [rolledAddress(generation + ROLLED_ENDPOINTS)],
    conditions: { ready: step > 0, serving: step > 0, terminating: false },
  };
  const endpoints = step === 2 ? [...old.slice(1), added] : [...old, added];
  await api.patch(paths.slice('default', ROLLED), { endpoints });
}

/** The endpoints of a node that the control plane loses and finds again. */
export async function flapOnce(api: ApiClient, serial: number): Promise<void> {
  const isReady = serial % 2 === 1;
  const conditions = { ready: isReady, serving: isReady, terminating: false };
  for (let index = FLAPPING.first; index < FLAPPING.first + FLAPPING.count; index++) {
    const endpoints = [
      { addresses: [`10.201.0.${index}`], nodeName: 'node9', conditions },
      { addresses: [`10.201.1.${index}`], conditions: { ready: true } },
    ];
    const namespace = `load-${Math.floor(index / SERVICES_PER_NAMESPACE)}`;
    const name = `svc-${String(index).padStart(5, '0')}-0`;
    await api.patch(paths.slice(namespace, name), { endpoints });
  }
}

function rolledAddress(serial: number): string {
  return `10.202.${(serial >> 8) & 255}.${serial & 255}`;
}
