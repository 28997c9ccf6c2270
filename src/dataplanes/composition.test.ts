import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { ComposedPlane } from './composition.ts';
import { type DataPlane, type EndpointCount, type NodeFacts, PlaneError } from './contract.ts';

interface Told {
  readonly plane: DataPlane;
  readonly calls: string[];
}

function told(name: string, calls: string[], more: Partial<DataPlane> = {}): DataPlane {
  const call = (verb: string): void => void calls.push(`${name} ${verb}`);
  return {
    mode: name,
    inspect: async () => {
      call('inspect');
      return { right: new Set(['a']), differences: [], differenceCount: 1, writeCount: 2 };
    },
    configure: async () => call('configure'),
    apply: async (changes) => call(`apply ${changes.map(text).join()}`),
    diff: async () => [],
    watch: async (_, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    counters: async () => [],
    frontends: async () => [{ protocol: 'TCP', address: '10.96.0.1', port: 80 }],
    remove: async () => call('remove'),
    ...more,
  };
}

function text({ key, before, after }: Change): string {
  return `${key}:${before?.id.service ?? '-'}>${after?.id.service ?? '-'}`;
}

function composed(front: Partial<DataPlane> = {}, behind: Partial<DataPlane> = {}): Told {
  const calls: string[] = [];
  const parts = { front: told('front', calls, front), behind: told('behind', calls, behind) };
  return { calls, plane: new ComposedPlane({ mode: 'both', ...parts }) };
}

function row(service: string): Forwarding {
  return {
    id: { namespace: 'ns', service, port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [],
    clusterEndpoints: [],
    localEndpoints: [],
    affinitySeconds: 0,
  };
}

const FACTS: NodeFacts = {
  podDetection: { IPv4: undefined, IPv6: undefined },
  nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
  serviceRanges: [],
  masqueradeMark: 1,
};

/** An inspection that finds these right. */
function finds(...right: string[]): DataPlane['inspect'] {
  return async () => ({
    right: new Set(right),
    differences: [],
    differenceCount: 0,
    writeCount: 0,
  });
}

test('what is new is behind before it is in front, and gone in front before it is behind', async () => {
  const { plane, calls } = composed();
  await plane.apply([{ key: 'k', before: undefined, after: row('a') }]);
  await plane.remove();
  assert.deepEqual(calls, [
    'behind apply k:->a',
    'front apply k:->a',
    'front remove',
    'behind remove',
  ]);
});

test('who is to stay with an endpoint meets what is new in front first, or nowhere', async () => {
  const staying = { ...row('s'), affinitySeconds: 10 };
  const changes: readonly Change[] = [
    { key: 'new', before: undefined, after: staying },
    { key: 'known', before: staying, after: staying },
    { key: 'other', before: undefined, after: row('a') },
  ];
  const { plane, calls } = composed();
  await plane.apply(changes);
  assert.deepEqual(calls, [
    'front apply new:->s',
    'behind apply new:->s,known:s>s,other:->a',
    'front apply known:s>s,other:->a',
  ]);
});

test('an address that goes from one row to another is handed over in one transaction', async () => {
  const refused = { action: 'reject' } as const;
  const outcomes = { pod: refused, host: refused, outside: refused };
  const frontends = [{ kind: 'cluster-ip', address: '10.96.0.1', port: 80, outcomes }] as const;
  const old = { ...row('a'), frontends, affinitySeconds: 10 };
  const renamed = { ...row('b'), frontends, affinitySeconds: 10 };
  const { plane, calls } = composed();
  await plane.apply([
    { key: 'old', before: old, after: undefined },
    { key: 'new', before: undefined, after: renamed },
  ]);
  assert.deepEqual(calls, ['behind apply old:a>-,new:->b', 'front apply old:a>-,new:->b']);
});

test('what is refused behind is taken back from the front', async () => {
  const staying = { ...row('s'), affinitySeconds: 10 };
  const refusal = new PlaneError('full', { code: 'FULL', next: '' });
  const { plane, calls } = composed({}, { apply: () => Promise.reject(refusal) });
  await assert.rejects(plane.apply([{ key: 'k', before: undefined, after: staying }]), refusal);
  assert.deepEqual(calls, ['front apply k:->s', 'front apply k:s>-']);
});

test('what the front refuses is taken back from behind', async () => {
  const refusal = new PlaneError('full', { code: 'FULL', next: '' });
  const { plane, calls } = composed({ apply: () => Promise.reject(refusal) });
  await assert.rejects(plane.apply([{ key: 'k', before: row('a'), after: row('b') }]), refusal);
  assert.deepEqual(calls, ['behind apply k:a>b', 'behind apply k:b>a']);
});

test('what only one of them has is not new to it, and is what the front leaves when it refuses', async () => {
  const refusal = new PlaneError('full', { code: 'FULL', next: '' });
  const rows = [row('a')];
  const key = servicePortKey(row('a').id);
  const refusing = { apply: () => Promise.reject(refusal), inspect: finds() };
  const { plane, calls } = composed(refusing, { inspect: finds(key) });
  await plane.inspect({ facts: FACTS, rows }, 'everything');
  for (let attempt = 0; attempt < 2; attempt++) {
    await assert.rejects(plane.apply([{ key, before: undefined, after: row('b') }]), refusal);
  }
  const once = [`behind apply ${key}:a>b`, `behind apply ${key}:b>a`];
  assert.deepEqual(calls, [...once, ...once]);
});

test('what only the front has is told to the front alone, once', async () => {
  const key = servicePortKey(row('a').id);
  const { plane, calls } = composed({ inspect: finds(key) }, { inspect: finds() });
  await plane.inspect({ facts: FACTS, rows: [row('a')] }, 'everything');
  await plane.apply([{ key, before: undefined, after: undefined }]);
  await plane.apply([{ key, before: undefined, after: row('b') }]);
  assert.deepEqual(calls, [
    `behind apply ${key}:->-`,
    `front apply ${key}:a>-`,
    `behind apply ${key}:->b`,
    `front apply ${key}:->b`,
  ]);
});

test('what cannot be taken back is told, and nothing is written before both were looked at', async () => {
  const refusal = new PlaneError('full', { code: 'FULL', next: '' });
  const depths: string[] = [];
  let count = 0;
  const { plane } = composed(
    { apply: () => Promise.reject(refusal) },
    {
      apply: async () => {
        count += 1;
        if (count === 2) throw new Error('gone');
      },
      inspect: (desired, depth) => {
        depths.push(depth);
        return finds()(desired, depth);
      },
    },
  );
  const stop = new AbortController();
  const drifts: string[] = [];
  const watching = plane.watch(({ what }) => drifts.push(what), stop.signal);
  const changes = [{ key: 'k', before: row('a'), after: row('b') }];
  await assert.rejects(plane.apply(changes), refusal);
  await assert.rejects(plane.apply(changes), { code: 'PLANE_UNCERTAIN' });
  assert.deepEqual([count, drifts.length], [2, 1]);
  await plane.inspect({ facts: FACTS, rows: [] }, 'suspects');
  assert.deepEqual(depths, ['everything']);
  await assert.rejects(plane.apply(changes), refusal);
  stop.abort();
  await watching;
});

test('a front that cannot be looked at is taken away, and what is behind serves alone until it can', async () => {
  const key = servicePortKey(row('a').id);
  const trouble = new PlaneError('no such group', { code: 'CGROUP_MISSING', next: '' });
  let isBroken = true;
  const depths: string[] = [];
  const inspect: DataPlane['inspect'] = async (desired, depth) => {
    depths.push(depth);
    if (isBroken) throw trouble;
    return await finds()(desired, depth);
  };
  const lost: unknown[] = [];
  const calls: string[] = [];
  const plane = new ComposedPlane({
    mode: 'both',
    front: told('front', calls, { inspect }),
    behind: told('behind', calls, { inspect: finds(key) }),
    onFrontLost: (error) => lost.push(error),
  });
  const desired = { facts: FACTS, rows: [row('a')] };
  for (let look = 0; look < 2; look++) {
    const { right, differences } = await plane.inspect(desired, 'suspects');
    assert.deepEqual([...right], [key]);
    const object = 'front: PlaneError: no such group';
    assert.deepEqual(differences, [{ kind: 'missing', object }]);
  }
  assert.deepEqual(lost, [trouble]);
  await plane.configure(FACTS);
  await plane.apply([{ key, before: row('a'), after: row('b') }]);
  const alone = ['behind configure', `behind apply ${key}:a>b`];
  assert.deepEqual(calls, ['front remove', 'front remove', ...alone]);
  isBroken = false;
  const { right } = await plane.inspect(desired, 'suspects');
  assert.equal(right.size, 0);
  assert.deepEqual(depths, ['suspects', 'everything', 'everything']);
  await plane.apply([{ key, before: undefined, after: row('b') }]);
  assert.deepEqual(calls.slice(4), [`behind apply ${key}:a>b`, `front apply ${key}:->b`]);
});

test('a row is right when both have it, and rows may be given once only', async () => {
  const reads: number[] = [];
  const inspect =
    (right: string[]): DataPlane['inspect'] =>
    async ({ rows }) => {
      reads.push([...rows].length);
      return { right: new Set(right), differences: [], differenceCount: 1, writeCount: 2 };
    };
  const { plane } = composed({ inspect: inspect(['a', 'b']) }, { inspect: inspect(['b', 'c']) });
  const once = function* () {
    yield row('a');
  };
  const found = await plane.inspect({ facts: FACTS, rows: once() }, 'everything');
  assert.deepEqual([...found.right], ['b']);
  assert.deepEqual([found.differenceCount, found.writeCount, ...reads], [2, 4, 1, 1]);
});

test('a watch that fails ends the other and says why', async () => {
  const { plane } = composed({ watch: () => Promise.reject(new Error('gone')) });
  await assert.rejects(
    plane.watch(() => undefined, AbortSignal.timeout(5000)),
    /gone/,
  );
});

test('what both have counted of one endpoint is added up', async () => {
  const count: EndpointCount = {
    service: 's',
    endpoint: '10.244.0.1:80',
    connections: 2,
    bytes: 10,
  };
  const counters = async () => [count];
  const { plane } = composed({ counters }, { counters });
  assert.deepEqual(await plane.counters(), [{ ...count, connections: 4, bytes: 20 }]);
  assert.equal((await plane.frontends()).length, 1);
});
