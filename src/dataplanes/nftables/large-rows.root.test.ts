import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { Endpoint, Forwarding } from '../../forwarding/model.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import type { RowChange } from '../contract.ts';
import { PlaneError } from '../contract.ts';
import { change } from '../shared/testing/plane-change.ts';
import type { NftablesPlane } from './nftables-plane.ts';
import { newPlane, nft } from './testing/nftables-kernel.ts';
import { FACTS, row } from './testing/nftables-rows.ts';

beforeEach(enterOwnNetwork);

/** About as much as one transaction may have; classes of the row come on top. */
const MOST_WRITTEN = 2010;

/** A row with this many endpoints, beginning at a number, and this many external addresses. */
function large(endpoints: number, options: { from?: number; addresses?: number } = {}): Forwarding {
  const { from = 0, addresses = 0 } = options;
  const clusterEndpoints = Array.from({ length: endpoints }, (_, index): Endpoint => {
    const number = from + index;
    return { address: `10.1.${number >> 8}.${number & 255}`, port: 80, local: false };
  }).sort((a, b) => (endpointKey(a) < endpointKey(b) ? -1 : 1));
  const plain = row();
  const [, balancer] = plain.frontends;
  assert.ok(balancer);
  const more = Array.from({ length: addresses }, (_, index) => ({
    ...balancer,
    kind: 'external-ip' as const,
    address: `198.18.${index >> 8}.${index & 255}`,
  }));
  return { ...plain, clusterEndpoints, frontends: [...plain.frontends, ...more] };
}

/** Writes a change in parts, and gives how many elements each has written. */
async function writeParts(plane: NftablesPlane, change: RowChange): Promise<number[]> {
  const written: number[] = [];
  for (let isDone = false; !isDone; ) {
    const before = plane.writtenCount;
    isDone = (await plane.applyPart(change)) === 'finished';
    written.push(plane.writtenCount - before);
  }
  return written;
}

async function opened(rows: readonly Forwarding[] = []): Promise<NftablesPlane> {
  const plane = newPlane();
  await plane.inspect({ facts: FACTS, rows }, 'everything');
  return plane;
}

/** All of them would be thousands of lines. */
async function firstDifferences(plane: NftablesPlane, desired: Forwarding) {
  return (await plane.diff({ facts: FACTS, rows: [desired] })).slice(0, 3);
}

describe('a row that is too large for one transaction', () => {
  it('is written in parts, with other rows in between, and removed in parts', async () => {
    const plane = await opened();
    const many = large(5000, { addresses: 3000 });
    const other = row({ number: 5 });
    assert.equal(await plane.applyPart(change('absent', many)), 'unfinished');
    await plane.apply([change('absent', other)]);
    const parts = await writeParts(plane, change('absent', many));
    assert.ok(Math.max(...parts) <= MOST_WRITTEN, parts.join());
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [many, other] }), []);
    const gone = await writeParts(plane, change(many, undefined));
    assert.ok(Math.max(...gone) <= MOST_WRITTEN && gone.length > 3, gone.join());
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [other] }), []);
  });

  it('keeps the slots of endpoints that stay, and a restart finds them right', async () => {
    const plane = await opened();
    let now = large(3000);
    await writeParts(plane, change('absent', now));
    for (const from of [1, 40, 39, 700]) {
      const next = { ...large(3000 - from, { from }), frontends: now.frontends };
      await writeParts(plane, change(now, next));
      now = next;
    }
    const before = plane.writtenCount;
    const one = { ...now, clusterEndpoints: now.clusterEndpoints.toSpliced(100, 1) };
    await writeParts(plane, change(now, one));
    assert.ok(plane.writtenCount - before <= 3, 'one endpoint less is three elements at most');
    const restarted = newPlane();
    const desired = { facts: FACTS, rows: [one] };
    const { right, writeCount } = await restarted.inspect(desired, 'everything');
    assert.deepEqual([right.size, writeCount], [1, 0]);
    await writeParts(restarted, change(one, now));
    assert.deepEqual(await restarted.diff({ facts: FACTS, rows: [now] }), []);
  });

  it('continues from what is there of it when the kernel rejected a part', async () => {
    const plane = await opened();
    const many = large(2500, { addresses: 2500 });
    nft('add element ip fairlead frontends { 198.18.8.0 . tcp . 80 : 0x07 }');
    await assert.rejects(writeParts(plane, change('absent', many)), (error) => {
      return error instanceof PlaneError && error.culprit === servicePortKey(many.id);
    });
    nft('delete element ip fairlead frontends { 198.18.8.0 . tcp . 80 }');
    const before = plane.writtenCount;
    await writeParts(plane, change('unknown', many));
    assert.ok(plane.writtenCount - before < 2500, 'what was there is not written again');
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [many] }), []);
    await writeParts(plane, change(many, undefined));
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [] }), []);
  });

  it('has the endpoints that are desired now when they changed after an inspection', async () => {
    const plane = await opened();
    assert.equal(await plane.applyPart(change('absent', large(3000))), 'unfinished');
    const inspected = await plane.inspect({ facts: FACTS, rows: [large(4000)] }, 'everything');
    assert.equal(inspected.right.size, 0);
    const now = large(4900, { from: 100 });
    await writeParts(plane, change('unknown', now));
    assert.deepEqual(await firstDifferences(plane, now), []);
    const fewer = large(4000, { from: 500 });
    await writeParts(plane, change(now, fewer));
    assert.deepEqual(await firstDifferences(plane, fewer), []);
  });

  it('has the endpoints that are desired now when the kernel rejected a part of others', async () => {
    const plane = await opened();
    const first = large(3000);
    await writeParts(plane, change('absent', first));
    const second = large(2900, { from: 100 });
    await writeParts(plane, change(first, second));
    const rejected = large(4500, { from: 50, addresses: 2500 });
    nft('add element ip fairlead frontends { 198.18.8.0 . tcp . 80 : 0x07 }');
    await assert.rejects(writeParts(plane, change(second, rejected)));
    nft('delete element ip fairlead frontends { 198.18.8.0 . tcp . 80 }');
    const now = large(4400, { from: 200, addresses: 2500 });
    await writeParts(plane, change('unknown', now));
    assert.deepEqual(await firstDifferences(plane, now), []);
  });

  it('waits for another row that writes the same long list of source ranges', async () => {
    const plane = await opened();
    const allowedSources = Array.from(
      { length: 3000 },
      (_, i) => `20.${i >> 7}.${(i & 127) * 2}.0/24`,
    );
    const [one, other] = [1, 2].map((number) => row({ number, allowedSources }));
    assert.ok(one && other);
    assert.equal(await plane.applyPart(change('absent', one)), 'unfinished');
    const before = plane.writtenCount;
    assert.equal(await plane.applyPart(change('absent', other)), 'unfinished');
    assert.equal(plane.writtenCount, before);
    await writeParts(plane, change('absent', one));
    await writeParts(plane, change('absent', other));
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [one, other] }), []);
    await writeParts(plane, change(one, undefined));
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [other] }), [], 'the list stays');
    await writeParts(plane, change(other, undefined));
    assert.deepEqual(await plane.diff({ facts: FACTS, rows: [] }), []);
  });
});
