import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import { change } from '../shared/testing/plane-change.ts';
import { TABLE_COMMENT } from './nftables-sets.ts';
import { applyWrong, assertIs, listTable, newPlane, nft } from './testing/nftables-kernel.ts';
import { FACTS, row } from './testing/nftables-rows.ts';

beforeEach(enterOwnNetwork);

/** A little of what an earlier version wrote: other maps, and chains of the same hooks. */
const EARLIER = `table ip fairlead {
  comment "${TABLE_COMMENT}"
  map services { typeof ip daddr . meta l4proto . th dport : meta mark; }
  map endpoints { type ipv4_addr : ipv4_addr; elements = { 10.96.0.2 : 10.244.1.1 } }
  chain services { dnat to ip daddr map @endpoints; }
  chain nat-prerouting { type nat hook prerouting priority dstnat; jump services; }
  chain nat-output { type nat hook output priority -100; jump services; }
}`;

const ROWS = [row({ number: 1 }), row({ number: 2 })];
const DESIRED = { facts: FACTS, rows: ROWS };
const entrance = () => run(['nft', 'list', 'chain', 'ip', 'fairlead', 'nat-output']);

describe('a table of an earlier version', () => {
  it('serves until every row is in the new maps, and is then deleted', async () => {
    nft(EARLIER);
    const plane = newPlane();
    const inspection = await plane.inspect(DESIRED, 'everything');
    assert.equal(inspection.right.size, 0);
    assert.match(entrance(), /jump services/, 'packets still go the old way');
    await plane.apply([change('absent', ROWS[0])]);
    await plane.inspect(DESIRED, 'everything');
    assert.match(entrance(), /jump services/, 'a look in between does not switch too early');
    await plane.apply([change('absent', ROWS[1])]);
    assert.match(entrance(), /jump services/);
    const last = await plane.inspect(DESIRED, 'reported');
    assert.deepEqual([...last.right].sort(), ROWS.map(({ id }) => servicePortKey(id)).sort());
    assert.match(entrance(), /jump dispatch/);
    assert.doesNotMatch(listTable('ip'), /map services|map endpoints|chain services/);
    await assertIs(plane, DESIRED);
  });

  it('reports when it can be deleted', async () => {
    nft(EARLIER);
    const plane = newPlane();
    const told: string[] = [];
    const stop = new AbortController();
    using _ = { [Symbol.dispose]: () => stop.abort() };
    const watching = plane.watch(({ what }) => told.push(what), stop.signal);
    await applyWrong(plane, ROWS, await plane.inspect(DESIRED, 'everything'));
    stop.abort();
    await watching;
    assert.match(told.join(), /rules of an earlier version/);
  });
});

describe('classes of timeouts that no row uses', () => {
  it('stay until the next full inspection, which removes them without a difference', async () => {
    const plane = newPlane();
    const sticky = row({ affinitySeconds: 77 });
    const rows = [row({ affinitySeconds: 10_800 })];
    await applyWrong(
      plane,
      [sticky],
      await plane.inspect({ facts: FACTS, rows: [sticky] }, 'everything'),
    );
    await plane.apply([change(sticky, rows[0])]);
    assert.match(listTable('ip'), /chain sticky\/80 /);
    const { differenceCount } = await plane.inspect({ facts: FACTS, rows }, 'everything');
    assert.equal(differenceCount, 0);
    assert.doesNotMatch(listTable('ip'), /sticky\/80 /);
    assert.deepEqual(await plane.diff({ facts: FACTS, rows }), []);
  });
});
