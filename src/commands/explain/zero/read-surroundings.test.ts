import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import type { JsonRecord } from '../../../cluster/json.ts';
import { manifestReader, type ObjectReader, type ReadKind } from './object-reader.ts';
import { podThere } from './pod-there.ts';
import { readPodThere, readSurroundings } from './read-surroundings.ts';

const NEVER = new AbortController().signal;
const FORBIDDEN = new ClusterError('CLUSTER_ANSWER', 'list pods: forbidden', { next: 'ask' });

/** `name` may have a value of the label app behind a colon. */
function object(kind: string, name: string, more: JsonRecord = {}): JsonRecord {
  const [own, app] = name.split(':');
  const labels = app === undefined ? {} : { app };
  return { kind, metadata: { namespace: 'shop', name: own, labels }, ...more };
}

const OTHER_SLICE = {
  kind: 'EndpointSlice',
  metadata: { namespace: 'shop', name: 'other', labels: { 'kubernetes.io/service-name': 'cart' } },
};

const OBJECTS: readonly JsonRecord[] = [
  object('Service', 'web', { spec: { selector: { app: 'web' } } }),
  object('Service', 'bare', {}),
  object('Pod', 'web-1:web', { status: { podIP: '10.1.0.2' } }),
  object('Pod', 'cart-1:cart'),
  object('Deployment', 'web', { spec: { replicas: 0 } }),
  object('Endpoints', 'bare', { subsets: [{ addresses: [{ ip: '10.1.0.9' }] }] }),
  OTHER_SLICE,
  { kind: 'Pod', metadata: { namespace: 'other', name: 'web-9', labels: { app: 'web' } } },
];

/** Notes what it is asked for; some kinds fail, or never answer. */
function spied(answers: Partial<Record<ReadKind, () => Promise<never>>> = {}) {
  const inner = manifestReader(OBJECTS, 'shop');
  const asked: ReadKind[] = [];
  const reader: ObjectReader = {
    from: 'cluster',
    get: async (kind, name) => {
      asked.push(kind);
      return (await answers[kind]?.()) ?? (await inner.get(kind, name));
    },
    list: async (kind, labels) => {
      asked.push(kind);
      return (await answers[kind]?.()) ?? (await inner.list(kind, labels));
    },
  };
  return { reader, asked };
}

describe('the objects around a Service', () => {
  it('are its slices and the pods that its selector matches', async () => {
    const { reader, asked } = spied();
    const found = await readSurroundings(reader, 'web', NEVER);
    assert.deepEqual('known' in found.pods && found.pods.known.map(({ name }) => name), ['web-1']);
    assert.equal(asked.includes('Deployment'), false);
  });

  it('are all pods, and workloads, if the selector matches none', async () => {
    const inner = manifestReader(
      [object('Service', 'web', { spec: { selector: { app: 'wbe' } } }), ...OBJECTS.slice(1)],
      'shop',
    );
    const { pods, workloads } = await readSurroundings(inner, 'web', NEVER);
    assert.deepEqual('known' in pods && pods.known.map(({ name }) => name), ['web-1', 'cart-1']);
    assert.deepEqual('known' in workloads && workloads.known.map(({ replicas }) => replicas), [0]);
  });

  it('are an Endpoints object and the slices of others, if it has no slice', async () => {
    const { legacyEndpoints, slices } = await readSurroundings(spied().reader, 'bare', NEVER);
    assert.deepEqual(legacyEndpoints, { known: 1 });
    assert.deepEqual('known' in slices && slices.known.map(({ name }) => name), ['other']);
  });

  it('are known apart from what the person may not read', async () => {
    const { reader } = spied({ Pod: () => Promise.reject(FORBIDDEN) });
    const { service, pods } = await readSurroundings(reader, 'web', NEVER);
    assert.ok('known' in service);
    const unknown = 'pods cannot be read with your credentials: list pods: forbidden';
    assert.deepEqual(pods, { unknown });
  });

  it('are given up at the deadline, however long a read takes', async () => {
    const late = new AbortController();
    const { reader } = spied({
      Pod: () => {
        queueMicrotask(() => late.abort());
        return Promise.withResolvers<never>().promise;
      },
    });
    const { pods } = await readSurroundings(reader, 'web', late.signal);
    assert.deepEqual(pods, { unknown: 'the API server did not give pods in time' });
  });

  it('fail as a whole if the program has a fault', async () => {
    const { reader } = spied({ Pod: () => Promise.reject(new TypeError('x')) });
    await assert.rejects(readSurroundings(reader, 'web', NEVER), TypeError);
  });

  it('have names and labels that are no options of a command', async () => {
    const odd = [object('Pod', '--as=root:web'), object('Pod', 'web-2:web')];
    const reader = manifestReader([...OBJECTS.slice(0, 2), ...odd], 'shop');
    const { pods } = await readSurroundings(reader, 'web', NEVER);
    assert.deepEqual('known' in pods && pods.known.map(({ name }) => name), ['web-2']);
    const metadata = { name: 'web', labels: { '--as': 'root', app: 'web' } };
    assert.deepEqual(podThere({ metadata }).labels, { app: 'web' });
  });

  it('leave out a pod that cannot be read', async () => {
    const { reader } = spied({ Pod: () => Promise.reject(FORBIDDEN) });
    assert.equal(await readPodThere(reader, 'web-1', NEVER), undefined);
  });
});
