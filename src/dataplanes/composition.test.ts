import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import { ComposedPlane } from './composition.ts';
import {
  type Applied,
  type DataPlane,
  type EndpointCount,
  type NodeFacts,
  PlaneError,
  type Readers,
  type RowChange,
} from './contract.ts';

interface Told {
  readonly plane: DataPlane;
  readonly calls: string[];
}

type More = Partial<DataPlane> & Readers;

function told(name: string, calls: string[], more: More = {}): DataPlane {
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
    read: async (key, rows) => await (more as Readers)[key]?.(rows),
    remove: async () => call('remove'),
    ...more,
  };
}

const SIGNS = { absent: '-', unknown: '?' } as const;

/** `k:a>b`; `-` is an absent row, `?` an unknown one. */
function text({ key, before, after }: RowChange): string {
  const was = typeof before === 'string' ? SIGNS[before] : before.id.service;
  return `${key}:${was}>${after?.id.service ?? '-'}`;
}

function change(key: string, before: Applied, after?: Forwarding): RowChange {
  return { key, id: row('any').id, before, after };
}

function composed(front: More = {}, behind: More = {}): Told {
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

test('adds a row behind before the front, and removes it in front before behind', async () => {
  const { plane, calls } = composed();
  await plane.apply([change('k', 'absent', row('a'))]);
  await plane.remove();
  assert.deepEqual(calls, [
    'behind apply k:->a',
    'front apply k:->a',
    'front remove',
    'behind remove',
  ]);
});

test('programs affinity rows in the front plane first', async () => {
  const staying = { ...row('s'), affinitySeconds: 10 };
  const changes: readonly RowChange[] = [
    change('new', 'absent', staying),
    change('known', staying, staying),
    change('other', 'absent', row('a')),
  ];
  const { plane, calls } = composed();
  await plane.apply(changes);
  assert.deepEqual(calls, [
    'front apply new:->s',
    'behind apply new:->s,known:s>s,other:->a',
    'front apply known:s>s,other:->a',
  ]);
});

test('moves an address from one row to another in one transaction', async () => {
  const rejected = { action: 'reject' } as const;
  const outcomes = { pod: rejected, host: rejected, outside: rejected };
  const frontends = [{ kind: 'cluster-ip', address: '10.96.0.1', port: 80, outcomes }] as const;
  const old = { ...row('a'), frontends, affinitySeconds: 10 };
  const renamed = { ...row('b'), frontends, affinitySeconds: 10 };
  const { plane, calls } = composed();
  await plane.apply([change('old', old), change('new', 'absent', renamed)]);
  assert.deepEqual(calls, ['behind apply old:a>-,new:->b', 'front apply old:a>-,new:->b']);
});

test('rolls the front back when the plane behind rejects a change', async () => {
  const staying = { ...row('s'), affinitySeconds: 10 };
  const rejection = new PlaneError('full', { code: 'FULL', next: '' });
  const { plane, calls } = composed({}, { apply: () => Promise.reject(rejection) });
  await assert.rejects(plane.apply([change('k', 'absent', staying)]), rejection);
  assert.deepEqual(calls, ['front apply k:->s', 'front apply k:s>-']);
});

test('rolls the plane behind back when the front rejects a change', async () => {
  const rejection = new PlaneError('full', { code: 'FULL', next: '' });
  const { plane, calls } = composed({ apply: () => Promise.reject(rejection) });
  await assert.rejects(plane.apply([change('k', row('a'), row('b'))]), rejection);
  assert.deepEqual(calls, ['behind apply k:a>b', 'behind apply k:b>a']);
});

test('restores the row that only the plane behind had when the front rejects a change', async () => {
  const rejection = new PlaneError('full', { code: 'FULL', next: '' });
  const rows = [row('a')];
  const key = servicePortKey(row('a').id);
  const rejecting = { apply: () => Promise.reject(rejection), inspect: finds() };
  const { plane, calls } = composed(rejecting, { inspect: finds(key) });
  await plane.inspect({ facts: FACTS, rows }, 'everything');
  for (let attempt = 0; attempt < 2; attempt++) {
    await assert.rejects(plane.apply([change(key, 'unknown', row('b'))]), rejection);
  }
  const once = [`behind apply ${key}:a>b`, `behind apply ${key}:b>a`];
  assert.deepEqual(calls, [...once, ...once]);
});

test('rolls the front back and names the row unknown behind when that plane has a part of it', async () => {
  const unknown = new Set(['k']);
  const rejection = new PlaneError('half', { code: 'HALF', next: '', unknown });
  let isBroken = true;
  const staying = { ...row('s'), affinitySeconds: 10 };
  const { plane, calls } = composed(
    {},
    {
      apply: async (changes) => {
        calls.push(`behind apply ${changes.map(text).join()}`);
        if (isBroken) throw rejection;
      },
    },
  );
  await assert.rejects(plane.apply([change('k', row('a'), staying)]), rejection);
  isBroken = false;
  await plane.apply([change('k', 'unknown', staying)]);
  assert.deepEqual(calls, ['behind apply k:a>s', 'behind apply k:?>s', 'front apply k:a>s']);
});

test('names a row that only the front has as `before` to the front alone, once', async () => {
  const key = servicePortKey(row('a').id);
  const { plane, calls } = composed({ inspect: finds(key) }, { inspect: finds() });
  await plane.inspect({ facts: FACTS, rows: [row('a')] }, 'everything');
  await plane.apply([change(key, 'unknown')]);
  await plane.apply([change(key, 'absent', row('b'))]);
  assert.deepEqual(calls, [
    `behind apply ${key}:?>-`,
    `front apply ${key}:a>-`,
    `behind apply ${key}:->b`,
    `front apply ${key}:->b`,
  ]);
});

test('rejects changes after a failed rollback until both planes were inspected completely', async (t) => {
  const rejection = new PlaneError('full', { code: 'FULL', next: '' });
  const depths: string[] = [];
  let count = 0;
  const { plane } = composed(
    { apply: () => Promise.reject(rejection) },
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
  // Also when an assertion fails: a watch that goes on would keep the test run from ending.
  t.after(() => stop.abort());
  const drifts: string[] = [];
  const watching = plane.watch(({ what }) => drifts.push(what), stop.signal);
  const changes = [change('k', row('a'), row('b'))];
  await assert.rejects(plane.apply(changes), rejection);
  await assert.rejects(plane.apply(changes), { code: 'PLANE_UNCERTAIN' });
  assert.deepEqual([count, drifts.length], [2, 1]);
  await plane.inspect({ facts: FACTS, rows: [] }, 'reported');
  assert.deepEqual(depths, ['everything']);
  await assert.rejects(plane.apply(changes), rejection);
  stop.abort();
  await watching;
});

test('removes a front that cannot be inspected and falls back to the plane behind', async () => {
  const key = servicePortKey(row('a').id);
  const trouble = new PlaneError('no such cgroup', { code: 'CGROUP_MISSING', next: '' });
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
    const { right, differences } = await plane.inspect(desired, 'reported');
    assert.deepEqual([...right], [key]);
    const object = 'front: PlaneError: no such cgroup';
    assert.deepEqual(differences, [{ kind: 'missing', object }]);
  }
  assert.deepEqual(lost, [trouble]);
  const fallback = await plane.read('fallback');
  assert.deepEqual(fallback, { from: 'front', to: 'behind', error: trouble });
  await plane.configure(FACTS);
  await plane.apply([change(key, row('a'), row('b'))]);
  const alone = ['behind configure', `behind apply ${key}:a>b`];
  assert.deepEqual(calls, ['front remove', 'front remove', ...alone]);
  isBroken = false;
  const { right } = await plane.inspect(desired, 'reported');
  assert.equal(right.size, 0);
  assert.equal(await plane.read('fallback'), undefined);
  assert.deepEqual(depths, ['reported', 'everything', 'everything']);
  await plane.apply([change(key, 'unknown', row('b'))]);
  assert.deepEqual(calls.slice(4), [`behind apply ${key}:a>b`, `front apply ${key}:?>b`]);
});

test('retires a front that cannot be inspected where it carries connections', async () => {
  const calls: string[] = [];
  const front = told('front', calls, {
    inspect: () => Promise.reject(new Error('no IPVS')),
    retire: async () => {
      calls.push('front retire');
      return 'draining';
    },
  });
  const plane = new ComposedPlane({ mode: 'both', front, behind: told('behind', calls) });
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  assert.deepEqual(calls, ['behind inspect', 'front retire']);
});

test('finds a row right only if both planes do', async () => {
  const reads: number[] = [];
  const inspect =
    (right: string[]): DataPlane['inspect'] =>
    async ({ rows }) => {
      reads.push(rows.length);
      return { right: new Set(right), differences: [], differenceCount: 1, writeCount: 2 };
    };
  const { plane } = composed({ inspect: inspect(['a', 'b']) }, { inspect: inspect(['b', 'c']) });
  const found = await plane.inspect({ facts: FACTS, rows: [row('a')] }, 'everything');
  assert.deepEqual([...found.right], ['b']);
  assert.deepEqual([found.differenceCount, found.writeCount, ...reads], [2, 4, 1, 1]);
});

test('ends both watches when one fails, with its error', async () => {
  const { plane } = composed({ watch: () => Promise.reject(new Error('gone')) });
  const signal = AbortSignal.timeout(5000);
  await assert.rejects(
    plane.watch(() => undefined, signal),
    /gone/,
  );
  assert.equal(signal.aborted, false, 'the other watch went on');
});

test('adds up the counts that both planes have of one endpoint', async () => {
  const count: EndpointCount = {
    service: 's',
    endpoint: '10.244.0.1:80',
    connections: 2,
    bytes: 10,
  };
  const counters = async () => [count];
  const inFront = { ...count, only: 'of the front' };
  const { plane } = composed({ counters: async () => [inFront] }, { counters });
  const sum = { ...inFront, connections: 4, bytes: 20 };
  assert.deepEqual(await plane.read('counters'), [sum]);
});

test('has what one of the planes has, and reads nothing else', async () => {
  const asked: string[] = [];
  const fill = { remembered: 1, room: 10, full: ['a'] };
  const affinityFill = async () => {
    asked.push('affinityFill');
    return fill;
  };
  const counters = () => assert.fail('was not asked for');
  const { plane } = composed({ counters }, { counters, affinityFill });
  assert.deepEqual(await plane.read('affinityFill'), fill);
  assert.equal(await plane.read('inventory'), undefined);
  assert.deepEqual(asked, ['affinityFill']);
});

test('merges each kind of reading in its own way', async () => {
  const at = (place: string) => ({ place, name: 'x', isAttached: true });
  const web = { protocol: 'TCP', address: '10.96.0.1', port: 80 } as const;
  const holding = (count: number) => ({ what: 'maps', count }) as const;
  const counted = (rejected: number) => ({ service: 's', rejected, dropped: 0 });
  const readers = (place: string, count: number): Readers => ({
    attachments: async () => [at(place)],
    frontends: async () => [web],
    inventory: async () => [holding(count)],
    rejected: async () => [counted(count)],
    affinityFill: async () => ({ remembered: count, room: 10, full: [`row-${count}`, 'both'] }),
  });
  const { plane } = composed(readers('front', 2), readers('behind', 1));
  assert.deepEqual(await plane.read('attachments'), [at('front'), at('behind')]);
  assert.deepEqual(await plane.read('frontends'), [web]);
  assert.deepEqual(await plane.read('inventory'), [holding(2), holding(1)]);
  assert.deepEqual(await plane.read('rejected'), [counted(1)], 'the front rejects nothing');
  const full = ['both', 'row-1', 'row-2'];
  assert.deepEqual(await plane.read('affinityFill'), { remembered: 3, room: 20, full });
});

test('releases the front before the plane behind, where one of them needs it', async () => {
  await composed().plane.release?.();
  const released: string[] = [];
  const release = (name: string) => async () => void released.push(name);
  await composed({ release: release('front') }, { release: release('behind') }).plane.release?.();
  assert.deepEqual(released, ['front', 'behind']);
});
