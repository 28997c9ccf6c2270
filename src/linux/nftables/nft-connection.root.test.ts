import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import type { NftBatch } from './batch.ts';
import { destinationAddress, MARK } from './fields.ts';
import { NftConnection, NftRejection } from './nft-connection.ts';
import { NETLINK_NETFILTER } from './nftables-protocol.ts';

const TABLE = { family: 'ip', name: 'ours' } as const;
const OWNERS = 50;
const EACH = 40;
const COUNT = OWNERS * EACH;

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

async function open(): Promise<NftConnection> {
  const connection = new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
  const batch = connection.begin();
  batch.own('table');
  batch.addTable(TABLE, 'of a test');
  const key = [destinationAddress('ip')];
  batch.addSet(TABLE, { name: 'map', comment: 'x', key, value: [MARK] });
  await connection.commit(batch);
  return connection;
}

function keyOf(index: number): string {
  return String.fromCharCode(10, 0, index >>> 8, index & 0xff);
}

const ownerOf = (index: number): string => `owner ${Math.floor(index / EACH)}`;

function fill(batch: NftBatch, write: (index: number) => void): void {
  for (let index = 0; index < COUNT; index++) {
    batch.own(ownerOf(index));
    write(index);
  }
}

async function rejectionOf(connection: NftConnection, batch: NftBatch): Promise<NftRejection> {
  try {
    await connection.commit(batch);
  } catch (error) {
    if (error instanceof NftRejection) return error;
    throw error;
  }
  return assert.fail('the kernel took it');
}

async function countElements(connection: NftConnection): Promise<number> {
  let found = 0;
  await connection.elements(TABLE, 'map', () => {
    found += 1;
  });
  return found;
}

describe('a transaction of 2,000 elements of 50 owners', () => {
  const positions = [0, 1, EACH - 1, EACH, 777, COUNT - 2, COUNT - 1];

  for (const bad of positions) {
    it(`is rejected for the owner of element ${bad}, which exists with another value`, async () => {
      using connection = await open();
      const first = connection.begin();
      first.addElement(TABLE, 'map', { key: keyOf(bad), value: 'othr' });
      await connection.commit(first);
      const batch = connection.begin();
      fill(batch, (index) => batch.addElement(TABLE, 'map', { key: keyOf(index), value: 'mine' }));
      const rejection = await rejectionOf(connection, batch);
      assert.deepEqual([rejection.code, rejection.owner], ['EEXIST', ownerOf(bad)]);
      assert.equal(await countElements(connection), 1, 'nothing of it is there');
    });

    it(`is rejected for the owner of element ${bad}, which does not exist and is deleted`, async () => {
      using connection = await open();
      const first = connection.begin();
      fill(first, (index) => {
        if (index !== bad) first.addElement(TABLE, 'map', { key: keyOf(index), value: 'mine' });
      });
      await connection.commit(first);
      const batch = connection.begin();
      fill(batch, (index) => batch.deleteElement(TABLE, 'map', { key: keyOf(index) }));
      const rejection = await rejectionOf(connection, batch);
      assert.deepEqual([rejection.code, rejection.owner], ['ENOENT', ownerOf(bad)]);
      assert.equal(await countElements(connection), COUNT - 1, 'nothing of it was done');
    });
  }

  it('is accepted after a rejected one', async () => {
    using connection = await open();
    const bad = connection.begin();
    bad.own('somebody');
    bad.deleteChain(TABLE, 'no such chain');
    assert.equal((await rejectionOf(connection, bad)).owner, 'somebody');
    const batch = connection.begin();
    fill(batch, (index) => batch.addElement(TABLE, 'map', { key: keyOf(index), value: 'mine' }));
    await connection.commit(batch);
    assert.equal(await countElements(connection), COUNT);
    assert.equal(connection.writtenCount, 2 + COUNT);
  });

  it('that replaces all values deletes and adds in one batch', async () => {
    using connection = await open();
    const first = connection.begin();
    fill(first, (index) => first.addElement(TABLE, 'map', { key: keyOf(index), value: 'mine' }));
    await connection.commit(first);
    const batch = connection.begin();
    fill(batch, (index) => batch.deleteElement(TABLE, 'map', { key: keyOf(index) }));
    fill(batch, (index) => batch.addElement(TABLE, 'map', { key: keyOf(index), value: 'next' }));
    await connection.commit(batch);
    const values = new Set<string | undefined>();
    await connection.elements(TABLE, 'map', ({ value }) => values.add(value));
    assert.deepEqual([...values], ['next']);
  });
});

describe('reading', () => {
  it('finds nothing where there is no table', async () => {
    using connection = new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
    assert.deepEqual(await connection.sets(TABLE), []);
    assert.deepEqual(await connection.chains(TABLE), []);
    assert.deepEqual(await connection.rules(TABLE), []);
    assert.deepEqual(await connection.elements(TABLE, 'map', () => assert.fail()), {
      consistent: true,
    });
  });

  it('returns the generation, which rises with every change by any process', async () => {
    using connection = await open();
    const before = await connection.generation();
    run(['nft', 'add', 'table', 'ip', 'theirs']);
    assert.equal(await connection.generation(), before + 1);
  });
});
