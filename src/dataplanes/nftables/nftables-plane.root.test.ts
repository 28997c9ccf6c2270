import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Forwarding } from '../../forwarding/model.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { type NodeFacts, PlaneError } from '../contract.ts';
import { change } from '../shared/testing/plane-change.ts';
import type { Class } from './classes.ts';
import { TABLE_FAMILIES, TABLE_OF_FAMILY } from './nftables-chains.ts';
import type { NftablesPlane } from './nftables-plane.ts';
import { partsOf } from './nftables-row.ts';
import { renderTable } from './render-nftables.ts';
import { newRowNumbers } from './row-numbers.ts';
import { tableContent } from './table-content.ts';
import {
  assertIs,
  bring,
  listEverything,
  listTable,
  newPlane,
  nft,
} from './testing/nftables-kernel.ts';
import {
  exampleRows,
  FACTS,
  PLAIN_RECIPE,
  type RowRecipe,
  row,
  rowOf,
  SHAPES,
} from './testing/nftables-rows.ts';

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

const ROWS = exampleRows();
const THEIRS = `add table inet theirs
  add chain inet theirs mine { type filter hook input priority 0; }
  add rule inet theirs mine tcp dport 22 counter accept`;
const DESIRED = { facts: FACTS, rows: ROWS };

describe('the nftables plane', () => {
  it('writes all rows to an empty kernel, and then finds them right without a write', async () => {
    const plane = newPlane();
    const first = await bring(plane, DESIRED);
    assert.deepEqual([...first.right], []);
    const second = await plane.inspect(DESIRED, 'everything');
    assert.deepEqual(
      [...second.right],
      ROWS.map(({ id }) => servicePortKey(id)),
    );
    assert.deepEqual([second.writeCount, second.differenceCount], [0, 0]);
    await assertIs(plane, DESIRED);
  });

  it('reports whether its tables are there', async () => {
    const plane = newPlane();
    const attached = async (): Promise<boolean[]> =>
      (await plane.attachments()).map(({ isAttached }) => isAttached);
    assert.deepEqual(await attached(), [false, false]);
    await bring(plane, DESIRED);
    assert.deepEqual(await attached(), [true, true]);
    run(['nft', 'delete', 'table', 'ip6', 'fairlead']);
    assert.deepEqual(await attached(), [true, false]);
  });

  it('creates the table that render prints, byte for byte', async () => {
    await bring(newPlane(), DESIRED);
    for (const family of TABLE_FAMILIES) {
      assert.equal(listTable(family), renderTable(tableContent(DESIRED, family)));
    }
    listEverything();
  });

  it('serves only some clients, as render prints it, and follows when they change', async () => {
    const plane = newPlane();
    await bring(plane, DESIRED);
    for (const clientInterfaces of [[], ['br-*', 'docker0'], ['docker0'], undefined]) {
      const { clientInterfaces: _, ...rest } = FACTS;
      const facts: NodeFacts = clientInterfaces ? { ...FACTS, clientInterfaces } : rest;
      const desired = { facts, rows: ROWS };
      await plane.configure(facts);
      assert.deepEqual(await newPlane().diff(desired), []);
      for (const family of TABLE_FAMILIES) {
        assert.equal(listTable(family), renderTable(tableContent(desired, family)));
      }
    }
  });

  it('removes what an earlier process wrote for clients that are not served', async () => {
    await bring(newPlane(), DESIRED);
    const desired = { facts: { ...FACTS, clientInterfaces: [] }, rows: ROWS };
    const { right } = await newPlane().inspect(desired, 'everything');
    assert.equal(right.size, ROWS.length);
    for (const family of TABLE_FAMILIES) {
      assert.equal(listTable(family), renderTable(tableContent(desired, family)));
      assert.match(listTable(family), /hook prerouting priority dstnat; policy accept;\n\t}/);
    }
  });

  it('adopts the tables of an earlier process without a write', async () => {
    await bring(newPlane(), DESIRED);
    const before = listEverything();
    const plane = newPlane();
    const { right, writeCount } = await plane.inspect(DESIRED, 'everything');
    assert.deepEqual([right.size, writeCount], [ROWS.length, 0]);
    assert.equal(listEverything(), before);
    // And tracks enough of it to continue: shared elements are counted, classes known.
    const [, ...rest] = ROWS;
    await plane.apply([change(ROWS[0] ?? 'absent', undefined)]);
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: rest }), []);
  });

  it('removes leftovers of no row, also of an earlier process', async () => {
    await bring(newPlane(), DESIRED);
    const plane = newPlane();
    const rows = ROWS.slice(0, 3);
    const { right } = await plane.inspect({ facts: FACTS, rows }, 'everything');
    assert.equal(right.size, rows.length);
    await assertIs(plane, { facts: FACTS, rows }, classesOf(ROWS));
  });

  it('leaves nothing behind, and can start again', async () => {
    nft(THEIRS);
    const before = listEverything();
    const plane = newPlane();
    await bring(plane, DESIRED);
    const held = new Map((await plane.inventory()).map(({ what, count }) => [what, count]));
    assert.deepEqual([...held.keys()], ['tables', 'chains', 'rules', 'sets', 'addresses']);
    assert.equal(held.get('tables'), 2);
    assert.equal(held.get('addresses'), (await plane.frontends()).length);
    await plane.remove();
    assert.deepEqual(await plane.inventory(), []);
    assert.equal(listEverything(), before);
    await plane.remove();
    await bring(plane, DESIRED);
    await assertIs(plane, DESIRED);
  });

  it('recreates a table of another shape', async () => {
    nft(`add table ip fairlead
         add set ip fairlead frontends { type ipv4_addr; }
         add table ip6 fairlead
         add chain ip6 fairlead nat-output { type nat hook output priority 5; }`);
    const plane = newPlane();
    assert.notDeepEqual(await plane.diff(DESIRED), []);
    await bring(plane, DESIRED);
    await assertIs(plane, DESIRED);
  });

  it('applies other facts without a write of rows', async () => {
    const plane = newPlane();
    await bring(plane, DESIRED);
    for (const facts of OTHER_FACTS) {
      await plane.configure(facts);
      await assertIs(plane, { facts, rows: ROWS });
    }
    const written = plane.writtenCount;
    await plane.configure(OTHER_FACTS.at(-1) ?? FACTS);
    assert.equal(plane.writtenCount, written, 'the same facts again are no change');
  });

  it('applies other facts also in an inspection of reported changes', async () => {
    const plane = newPlane();
    await bring(plane, DESIRED);
    const [facts = FACTS] = OTHER_FACTS;
    await plane.inspect({ facts, rows: ROWS }, 'reported');
    await assertIs(plane, { facts, rows: ROWS });
  });

  it('rejects changes before the first inspection', async () => {
    await assert.rejects(newPlane().apply([]), { code: 'NFT_NOT_INSPECTED' });
  });

  it('names the row that the kernel rejected, and writes none', async () => {
    const plane = newPlane();
    await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
    nft('add element ip fairlead frontends { 10.96.0.4 . tcp . 80 : 0x07 }');
    const rows = [1, 2, 3, 4].map((number) => row({ number }));
    const changes = rows.map((each) => change('absent', each));
    await assert.rejects(plane.apply(changes), (error) => {
      assert.ok(error instanceof PlaneError);
      assert.deepEqual([error.code, error.culprit], ['NFT_EEXIST', 'ns/service-3/TCP/IPv4']);
      return true;
    });
    assert.equal(run(['nft', 'list', 'set', 'ip', 'fairlead', 'service-ips']).includes('='), false);
    const others = changes.filter(({ key }) => key !== 'ns/service-3/TCP/IPv4');
    await plane.apply(others);
    await bring(plane, { facts: FACTS, rows });
    await assertIs(plane, { facts: FACTS, rows });
  });

  it('writes and removes the source ranges of a row that was once in a rejected transaction', async () => {
    const plane = newPlane();
    await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
    const element = 'element ip fairlead frontends { 10.96.0.4 . tcp . 80';
    nft(`add ${element} : 0x07 }`);
    const limited = row({ number: 1, allowedSources: ['192.0.2.0/24'] });
    const changes = [limited, row({ number: 3 })].map((each) => change('absent', each));
    await assert.rejects(plane.apply(changes), { code: 'NFT_EEXIST' });
    nft(`delete ${element} }`);
    await plane.apply(changes.slice(0, 1));
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [limited] }), []);
    await plane.apply([change(limited, undefined)]);
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [] }), []);
  });

  it('keeps a comment that nft can print for the longest of names', async () => {
    const plane = newPlane();
    const id = {
      ...row().id,
      namespace: 'n'.repeat(63),
      service: 's'.repeat(63),
      port: 'p'.repeat(15),
    };
    const desired = { facts: FACTS, rows: [{ ...row(), id }] };
    await bring(plane, desired);
    await assertIs(plane, desired);
    listEverything();
  });
});

const OTHER_FACTS: readonly NodeFacts[] = [
  { ...FACTS, nodePortAddresses: { IPv4: ['192.168.50.2', '192.168.50.3'], IPv6: ['fd00:50::1'] } },
  { ...FACTS, nodePortAddresses: { IPv4: 'all', IPv6: 'all' }, serviceRanges: [] },
  { ...FACTS, podDetection: { IPv4: { by: 'interface', name: 'cbr0' }, IPv6: undefined } },
  { ...FACTS, masqueradeMark: 2 ** 31, serviceRanges: ['10.96.0.1/32', 'fd00:96::1/128'] },
];

function classesOf(rows: readonly Forwarding[]): Record<TableFamily, Class[]> {
  const classes: Record<TableFamily, Class[]> = { ip: [], ip6: [] };
  for (const each of rows) {
    classes[TABLE_OF_FAMILY[each.id.family]].push(...partsOf(each, newRowNumbers()).classes);
  }
  return classes;
}

const RECIPE: fc.Arbitrary<RowRecipe> = fc
  .record({
    number: fc.nat(3),
    family: fc.constantFrom('IPv4', 'IPv6'),
    shape: fc.constantFrom(...SHAPES),
    endpointCount: fc.nat(40),
    localCount: fc.nat(3),
    affinitySeconds: fc.constantFrom(0, 0, 1, 10_800, 86_400),
    ranges: fc.option(
      fc.subarray([
        '10.0.0.0/8',
        '172.16.0.0/12',
        '0.0.0.0/0',
        '::/0',
        '2001:db8::/32',
        'fd00::1/128',
      ]),
      { nil: undefined },
    ),
  })
  .map(({ ranges, ...recipe }) => ({
    ...PLAIN_RECIPE,
    ...recipe,
    ...(ranges === undefined ? {} : { allowedSources: ranges }),
  }));

/** A change of a row: to what a recipe describes, or to nothing. */
interface Step {
  readonly recipe: RowRecipe;
  readonly isRemoval: boolean;
}

const TRANSACTIONS: fc.Arbitrary<Step[][]> = fc.array(
  fc.uniqueArray(fc.record({ recipe: RECIPE, isRemoval: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
    selector: ({ recipe }) => servicePortKey(rowOf(recipe).id),
  }),
  { minLength: 1, maxLength: 6 },
);

async function applyStep(
  plane: NftablesPlane,
  applied: Map<string, Forwarding>,
  steps: readonly Step[],
): Promise<void> {
  const changes = steps.flatMap(({ recipe, isRemoval }) => {
    const after = isRemoval ? undefined : rowOf(recipe);
    const before = applied.get(servicePortKey(rowOf(recipe).id)) ?? 'absent';
    return before !== 'absent' || after ? [change(before, after)] : [];
  });
  await plane.apply(changes);
  for (const { key, after } of changes) {
    if (after) applied.set(key, after);
    else applied.delete(key);
  }
}

const WITHOUT = { options: {}, facts: FACTS };
const WITH_FORWARDER = {
  options: { forwarder: true },
  facts: { ...FACTS, handsOver: true },
} as const;

describe('any sequence of changes', () => {
  it('ends in the table of the rows that are left, with or without a forwarder', async () => {
    const property = fc.asyncProperty(TRANSACTIONS, fc.boolean(), async (transactions, isFirst) => {
      enterOwnNetwork();
      const [first, other] = isFirst ? [WITH_FORWARDER, WITHOUT] : [WITHOUT, WITH_FORWARDER];
      const plane = newPlane(first.options);
      await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
      const applied = new Map<string, Forwarding>();
      for (const steps of transactions) await applyStep(plane, applied, steps);
      const rows = [...applied.values()];
      const ever = transactions
        .flat()
        .flatMap(({ recipe, isRemoval }) => (isRemoval ? [] : [rowOf(recipe)]));
      await assertIs(plane, { facts: first.facts, rows }, classesOf(ever));
      listEverything();
      const restarted = newPlane(first.options);
      const { right, writeCount } = await restarted.inspect({ facts: FACTS, rows }, 'everything');
      assert.deepEqual([right.size, writeCount], [rows.length, 0]);
      const switched = newPlane(other.options);
      const found = await switched.inspect({ facts: FACTS, rows }, 'everything');
      assert.equal(found.right.size, rows.length);
      await assertIs(switched, { facts: other.facts, rows }, classesOf(ever));
    });
    await fc.assert(property, { numRuns: 25, endOnFailure: false });
  });

  it('counts for every endpoint of every Service, with session affinity too', async () => {
    const plane = newPlane();
    await bring(plane, DESIRED);
    const counted = new Set((await plane.counters()).map(({ service }) => service));
    const forwarding = ROWS.filter(({ frontends }) =>
      frontends.some(({ outcomes, notServed }) => {
        const isForwarded = Object.values(outcomes).some(({ action }) => action === 'forward');
        return isForwarded && notServed === undefined;
      }),
    );
    assert.deepEqual([...counted].sort(), forwarding.map(({ id }) => servicePortKey(id)).sort());
  });
});
