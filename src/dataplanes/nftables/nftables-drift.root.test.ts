import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Family, servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import type { Drift } from '../contract.ts';
import { markText } from '../shared/nft/element-text.ts';
import { change } from '../shared/testing/plane-change.ts';
import { listNumber } from './groups.ts';
import type { NftablesPlane } from './nftables-plane.ts';
import { newRowNumbers } from './row-numbers.ts';
import {
  applyWrong,
  assertIs,
  bring,
  listEverything,
  newPlane,
  nft,
} from './testing/nftables-kernel.ts';
import { exampleRows, FACTS, row } from './testing/nftables-rows.ts';

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

/** A limit for the test only: a busy machine has delayed a process by five seconds. */
const DEADLINE_MS = 30_000;
const ROWS = exampleRows();
const DESIRED = { facts: FACTS, rows: ROWS };
const THEIRS = `add table inet theirs
  add set inet theirs numbers { type inet_service; elements = { 22, 80 }; }
  add chain inet theirs mine { type filter hook input priority 0; }
  add rule inet theirs mine tcp dport @numbers accept`;

/** A plane with everything in the kernel, that watches. */
class Watching implements AsyncDisposable {
  readonly plane: NftablesPlane;
  readonly drifts: Drift[] = [];
  readonly #stop = new AbortController();
  #running = Promise.resolve();

  constructor(plane = newPlane()) {
    this.plane = plane;
  }

  async start(): Promise<this> {
    await bring(this.plane, DESIRED);
    this.#running = this.plane.watch((drift) => this.drifts.push(drift), this.#stop.signal);
    return this;
  }

  async heard(count: number): Promise<void> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    while (this.drifts.length < count) {
      assert.ok(!late.aborted, `heard ${JSON.stringify(this.drifts)}`);
      await delay(2);
    }
  }

  /** Inspects what was reported, and repairs it. */
  async repair(): Promise<void> {
    const inspection = await this.plane.inspect(DESIRED, 'reported');
    assert.ok(inspection.differenceCount > 0, 'a difference is found');
    await applyWrong(this.plane, ROWS, inspection);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** The type of the message that begins a transaction. */
const BATCH_BEGIN = 0x10;

/** Its requests fail while `next` is set; with `'writes'`, only transactions. */
function planeThatFails(
  failing: { readonly next: boolean },
  what: 'requests' | 'writes' = 'requests',
): NftablesPlane {
  return newPlane({
    wrap: (netlink) => ({
      portId: netlink.portId,
      send: async (bytes) => {
        const isAffected = what === 'requests' || messageType(bytes) === BATCH_BEGIN;
        if (failing.next && isAffected) throw new Error('planted');
        await netlink.send(bytes);
      },
      receive: () => netlink.receive(),
      listen: (listener, signal) => netlink.listen(listener, signal),
      [Symbol.dispose]: () => netlink[Symbol.dispose](),
    }),
  });
}

function messageType(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint16(4, true);
}

interface Foreign {
  readonly what: string;
  readonly script: string;
  /** Part of what is reported. */
  readonly told: string;
}

/** The list of the first row of a family, as `nft` prints it. */
function listOf(family: Family): string {
  const { id } = row({ family, number: 1 });
  return markText(listNumber(newRowNumbers().rows.of(servicePortKey(id)), 'cluster'));
}

const CHANGES: readonly Foreign[] = [
  {
    what: 'deletes an element',
    script: 'delete element ip fairlead frontends { 10.96.0.2 . tcp . 80 }',
    told: 'deleted ip fairlead map frontends { 10.96.0.2 . tcp . 80 }',
  },
  {
    what: 'deletes an endpoint',
    script: `delete element ip6 fairlead slots { ${listOf('IPv6')} . 1 }`,
    told: `deleted ip6 fairlead map slots { ${listOf('IPv6')} . 1 }`,
  },
  {
    what: 'adds an element',
    script: 'add element ip fairlead frontends { 10.96.7.7 . tcp . 80 : 0x01000003 }',
    told: 'added ip fairlead map frontends { 10.96.7.7 . tcp . 80 }',
  },
  {
    what: 'changes an element',
    script: `delete element ip fairlead frontends { 10.96.0.2 . tcp . 80 }
      add element ip fairlead frontends { 10.96.0.2 . tcp . 80 : 0x01000004 }`,
    told: 'deleted ip fairlead map frontends { 10.96.0.2 . tcp . 80 }',
  },
  {
    what: 'deletes an element that several rows want',
    script: 'delete element ip fairlead hairpin { 10.244.0.1 . 10.244.0.1 }',
    told: 'deleted ip fairlead set hairpin { 10.244.0.1 . 10.244.0.1 }',
  },
  {
    what: 'flushes a map',
    script: 'flush map ip fairlead slots',
    told: 'deleted ip fairlead map slots',
  },
  {
    what: 'flushes the map of classes',
    script: 'flush map ip fairlead class-chains',
    told: 'deleted elements of ip class-chains',
  },
  {
    what: 'flushes the map of clients that packets write',
    script: `flush map ip fairlead clients
      flush chain ip fairlead refuse`,
    told: 'rule of chain refuse',
  },
  {
    what: 'flushes a chain',
    script: 'flush chain ip fairlead dispatch',
    told: 'deleted rule of chain dispatch of ip fairlead',
  },
  {
    what: 'adds a rule',
    script: 'insert rule ip fairlead dispatch ip saddr { 192.0.2.1, 192.0.2.2 } drop',
    told: 'added set __set',
  },
  {
    what: 'adds chains that lead to each other, and a map that leads to them',
    script: `add chain ip fairlead aaa
      add chain ip fairlead bbb
      add rule ip fairlead bbb jump aaa
      add map ip fairlead ccc { type mark : verdict; }
      add element ip fairlead ccc { 1 : goto aaa }
      add rule ip fairlead bbb meta mark vmap @ccc`,
    told: 'added chain aaa of ip fairlead',
  },
  {
    what: 'deletes a base chain',
    script: `flush chain ip6 fairlead nat-output
      delete chain ip6 fairlead nat-output`,
    told: 'deleted rule of chain nat-output of ip6 fairlead',
  },
  {
    what: 'puts a base chain at another place',
    script: `flush chain ip6 fairlead nat-output
      delete chain ip6 fairlead nat-output
      add chain ip6 fairlead nat-output { type filter hook output priority 7; }`,
    told: 'deleted rule of chain nat-output of ip6 fairlead',
  },
  {
    what: 'deletes a set',
    script: `flush chain ip fairlead cluster-ip-check
      delete set ip fairlead service-ips`,
    told: 'cluster-ip-check of ip fairlead',
  },
  {
    what: 'flushes a table',
    script: 'flush table ip fairlead',
    told: 'deleted rule of chain',
  },
  { what: 'deletes a table', script: 'delete table ip6 fairlead', told: 'of ip6 fairlead' },
];

describe('a change by another process', () => {
  for (const { what, script, told } of CHANGES) {
    it(`that ${what} is reported, and undone`, async () => {
      nft(THEIRS);
      const theirs = run(['nft', 'list', 'table', 'inet', 'theirs']);
      await using watching = await new Watching().start();
      const before = listEverything();
      nft(script);
      await watching.heard(1);
      const [drift] = watching.drifts;
      assert.ok(drift);
      assert.ok(drift.what.includes(told), drift.what);
      assert.equal(drift.by?.program, 'nft');
      assert.ok((drift.by?.pid ?? 0) > 0);
      assert.notEqual(listEverything(), before);
      assert.notDeepEqual(await watching.plane.diff(DESIRED), []);
      await watching.repair();
      await assertIs(watching.plane, DESIRED);
      assert.equal(run(['nft', 'list', 'table', 'inet', 'theirs']), theirs);
      const again = await watching.plane.inspect(DESIRED, 'everything');
      assert.deepEqual([again.writeCount, again.right.size], [0, ROWS.length]);
      assert.equal(watching.drifts.length, 1, 'what we write ourselves is no drift');
    });
  }

  it('that flushes the ruleset is reported, and undone', async () => {
    await using watching = await new Watching().start();
    nft('flush ruleset');
    await watching.heard(1);
    await watching.repair();
    await assertIs(watching.plane, DESIRED);
  });

  it('that moves a range is reported, and undone', async () => {
    await using watching = await new Watching().start();
    const listing = run(['nft', 'list', 'set', 'ip', 'fairlead', 'source-ranges']);
    const list = /(0x[0-9a-f]+) \. 172\.16/.exec(listing)?.[1];
    nft(`delete element ip fairlead source-ranges { ${list} . 172.16.0.0 }
      add element ip fairlead source-ranges { ${list} . 172.17.0.0 }`);
    await watching.heard(1);
    await watching.repair();
    await assertIs(watching.plane, DESIRED);
  });

  it('is found again until it is repaired', async () => {
    await using watching = await new Watching().start();
    nft('delete element ip fairlead frontends { 10.96.0.2 . tcp . 80 }');
    await watching.heard(1);
    await watching.plane.inspect(DESIRED, 'reported');
    nft(`delete element ip fairlead slots { ${listOf('IPv4')} . 0 }`);
    await watching.heard(2);
    await watching.repair();
    await assertIs(watching.plane, DESIRED);
  });

  it('of an element that we have written since is not reported', async () => {
    await using watching = await new Watching().start();
    const other = row({ number: 9 });
    const element = 'element ip fairlead frontends { 10.96.0.10 . tcp . 80';
    nft(`add ${element} : 0x07 }`);
    nft(`delete ${element} }`);
    await watching.heard(2);
    await watching.plane.apply([change('absent', other)]);
    const desired = { facts: FACTS, rows: [...ROWS, other] };
    const { differences, right } = await watching.plane.inspect(desired, 'reported');
    assert.deepEqual(differences, []);
    assert.ok(right.has(servicePortKey(other.id)));
  });

  it('is found by the inspection after one that failed', async () => {
    const failing = { next: false };
    await using watching = await new Watching(planeThatFails(failing)).start();
    nft(`delete element ip fairlead slots { ${listOf('IPv4')} . 0 }
      add chain ip fairlead theirs`);
    await watching.heard(1);
    failing.next = true;
    await assert.rejects(watching.plane.inspect(DESIRED, 'reported'), /planted/);
    failing.next = false;
    await watching.repair();
    await assertIs(watching.plane, DESIRED);
  });

  for (const then of ['changed', 'removed'] as const) {
    it(`to a row that is ${then} after an inspection that could not write is repaired`, async () => {
      const failing = { next: false };
      await using watching = await new Watching(planeThatFails(failing, 'writes')).start();
      const victim = ROWS.find((each) => each.frontends.some((f) => f.address === '10.96.0.3'));
      assert.ok(victim);
      nft(`delete element ip fairlead frontends { 10.96.0.3 . tcp . 80 }
        add chain ip fairlead theirs`);
      failing.next = true;
      await assert.rejects(watching.plane.inspect(DESIRED, 'everything'), /planted/);
      failing.next = false;
      // The caller does not know that the inspection found the row wrong before it was rejected.
      const endpoints = victim.clusterEndpoints.slice(0, -1);
      const after = then === 'removed' ? undefined : { ...victim, clusterEndpoints: endpoints };
      await watching.plane.apply([change(victim, after)]);
      nft('delete chain ip fairlead theirs');
      const rows = ROWS.flatMap((each) => (each === victim ? (after ?? []) : each));
      assert.deepEqual(await watching.plane.diff({ facts: FACTS, rows }), []);
    });
  }

  it('of a shared element is still repaired when another row starts to use it', async () => {
    await using watching = await new Watching().start();
    nft('delete element ip fairlead hairpin { 10.244.0.1 . 10.244.0.1 }');
    await watching.heard(1);
    const other = row({ number: 9, shape: 'local' });
    await watching.plane.apply([change('absent', other)]);
    const desired = { facts: FACTS, rows: [...ROWS, other] };
    const inspection = await watching.plane.inspect(desired, 'reported');
    await applyWrong(watching.plane, desired.rows, inspection);
    assert.deepEqual(await watching.plane.diff(desired), []);
  });

  for (const depth of ['everything', 'reported'] as const) {
    it(`to a row that is then removed leaves nothing of the row (${depth})`, async () => {
      await using watching = await new Watching().start();
      const victim = row({
        number: 2,
        shape: 'local',
        allowedSources: ['172.16.0.0/12', '192.168.60.2/32'],
      });
      assert.deepEqual(victim, ROWS[1]);
      nft(`delete element ip fairlead frontends { 10.96.0.3 . tcp . 80 }
        delete element ip fairlead hairpin { 10.244.0.1 . 10.244.0.1 }`);
      await watching.heard(1);
      const inspection = await watching.plane.inspect(DESIRED, depth);
      await watching.plane.apply([{ ...change('unknown', victim), after: undefined }]);
      const rows = ROWS.filter((each) => each !== ROWS[1]);
      await applyWrong(watching.plane, rows, inspection);
      assert.deepEqual(await watching.plane.diff({ facts: FACTS, rows }), []);
    });
  }

  it('of another table is ignored', async () => {
    await using watching = await new Watching().start();
    nft(THEIRS);
    nft('delete element ip fairlead frontends { 10.96.0.2 . tcp . 80 }');
    await watching.heard(1);
    assert.match(watching.drifts[0]?.what ?? '', /10\.96\.0\.2/);
  });
});
