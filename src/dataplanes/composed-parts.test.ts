import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwarding } from '../forwarding/model.ts';
import { ComposedPlane } from './composition.ts';
import {
  type Applied,
  type DataPlane,
  type NodeFacts,
  PlaneError,
  type RowChange,
} from './contract.ts';

const FACTS: NodeFacts = {
  podDetection: { IPv4: undefined, IPv6: undefined },
  nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
  serviceRanges: [],
  masqueradeMark: 1,
};
const REJECTION = new PlaneError('full', { code: 'FULL', next: '' });

function row(service: string, affinitySeconds = 0): Forwarding {
  return {
    id: { namespace: 'ns', service, port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [],
    clusterEndpoints: [],
    localEndpoints: [],
    affinitySeconds,
  };
}

const SIGNS = { absent: '-', unknown: '?' } as const;

/** `a>b`; `-` is an absent row, `?` an unknown one. */
function text({ before, after }: RowChange): string {
  const was = typeof before === 'string' ? SIGNS[before] : before.id.service;
  return `${was}>${after?.id.service ?? '-'}`;
}

function change(before: Applied, after: Forwarding): RowChange {
  return { key: 'k', id: after.id, before, after };
}

/** Two planes; the one behind writes in three parts. `faults` are the calls that fail. */
class Pair {
  readonly calls: string[] = [];
  readonly faults = new Set<string>();
  readonly plane: DataPlane;
  #partCount = 0;

  constructor() {
    const behind: DataPlane = {
      ...this.#half('behind'),
      objectsPerStep: 10,
      applyPart: async (change) => {
        this.#call(`behind part ${text(change)}`);
        this.#partCount++;
        return this.#partCount % 3 === 0 ? 'finished' : 'unfinished';
      },
    };
    this.plane = new ComposedPlane({ mode: 'both', front: this.#half('front'), behind });
  }

  async write(change: RowChange): Promise<void> {
    while ((await this.plane.applyPart?.(change)) === 'unfinished');
  }

  #call(what: string): void {
    this.calls.push(what);
    if (this.faults.has(what)) throw REJECTION;
  }

  #half(name: string): DataPlane {
    const nothing = {
      right: new Set<string>(),
      differences: [],
      differenceCount: 0,
      writeCount: 0,
    };
    return {
      mode: name,
      inspect: async () => {
        this.#call(`${name} inspect`);
        return nothing;
      },
      configure: async () => undefined,
      apply: async (changes) => this.#call(`${name} apply ${changes.map(text).join()}`),
      diff: async () => [],
      watch: async () => undefined,
      read: async () => undefined,
      remove: async () => undefined,
    };
  }
}

test('has parts if the plane behind has them', () => {
  assert.equal(new Pair().plane.objectsPerStep, 10);
  const behind = { ...new Pair().plane };
  const whole = new ComposedPlane({ mode: 'both', front: behind, behind: { ...behind } });
  assert.equal(typeof whole.applyPart, 'function');
  const { applyPart: _, ...without } = behind;
  const plane = new ComposedPlane({ mode: 'both', front: without, behind: without });
  assert.equal(plane.applyPart, undefined);
});

test('writes a large row to the front after all of its parts are behind', async () => {
  const pair = new Pair();
  await pair.write(change(row('a'), row('b')));
  const part = 'behind part a>b';
  assert.deepEqual(pair.calls, [part, part, part, 'front apply a>b']);
});

test('writes a new large row with affinity to the front before its first part', async () => {
  const pair = new Pair();
  await pair.write(change('absent', row('s', 10)));
  const part = 'behind part ->s';
  assert.deepEqual(pair.calls, ['front apply ->s', part, part, part]);
});

test('rolls the front back when the plane behind rejects a part', async () => {
  const pair = new Pair();
  pair.faults.add('behind part ->s');
  await assert.rejects(pair.write(change('absent', row('s', 10))), REJECTION);
  assert.deepEqual(pair.calls, ['front apply ->s', 'behind part ->s', 'front apply s>-']);
});

test('rejects parts after a failed rollback until both planes were inspected', async () => {
  const pair = new Pair();
  for (const fault of ['behind part ->s', 'front apply s>-']) pair.faults.add(fault);
  await assert.rejects(pair.write(change('absent', row('s', 10))), REJECTION);
  pair.faults.clear();
  const next = change('unknown', row('s', 10));
  await assert.rejects(pair.write(next), { code: 'PLANE_UNCERTAIN' });
  await pair.plane.inspect({ facts: FACTS, rows: [] }, 'reported');
  await pair.write(next);
});

test('tracks the state of the front after the plane behind rejected a part', async () => {
  const pair = new Pair();
  pair.faults.add('behind part a>b');
  await assert.rejects(pair.write(change(row('a'), row('b'))), REJECTION);
  await pair.plane.apply([change('unknown', row('c'))]);
  assert.deepEqual(pair.calls.slice(1), ['behind apply ?>c', 'front apply a>c']);
});

test('tracks the state of both planes after the front rejected a row that is behind', async () => {
  const pair = new Pair();
  pair.faults.add('front apply a>b');
  await assert.rejects(pair.write(change(row('a'), row('b'))), REJECTION);
  await pair.plane.apply([change('unknown', row('c'))]);
  assert.deepEqual(pair.calls.slice(4), ['behind apply b>c', 'front apply a>c']);
});

test('tracks the state of the front after an inspection that failed between two parts', async () => {
  const pair = new Pair();
  const begun = change(row('a'), row('b'));
  assert.equal(await pair.plane.applyPart?.(begun), 'unfinished');
  pair.faults.add('behind inspect');
  await assert.rejects(pair.plane.inspect({ facts: FACTS, rows: [] }, 'everything'), REJECTION);
  await pair.plane.apply([change('unknown', row('c'))]);
  assert.deepEqual(pair.calls.slice(2), ['behind apply ?>c', 'front apply a>c']);
});
