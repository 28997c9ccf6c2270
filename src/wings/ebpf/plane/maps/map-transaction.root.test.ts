import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { RowChange } from '../../../../dataplanes/contract.ts';
import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import { type LoadedObject, loadObject } from '../../../../linux/ebpf/load-object.ts';
import { compiledProgram } from '../../../../linux/ebpf/testing/compiled-program.ts';
import { changesInMaps } from '../ebpf-watch.ts';
import { clusterIp, rowOf } from '../testing/ebpf-rows.ts';
import { FRONTEND } from './layout.ts';
import { Knowledge } from './map-knowledge.ts';
import { frontendKeyOf } from './map-row.ts';
import { Transaction } from './map-transaction.ts';
import { Tables } from './open-tables.ts';
import { SlotSpace } from './slot-space.ts';

const SLOTS = 64;
const FRONTENDS = 3;
const OBJECT = compiledProgram('sock');

const IP = clusterIp('10.96.0.1');
const OLD = rowOf('old', { frontends: [IP], endpoints: ['127.0.0.1:1'] });
const RENAMED = rowOf('renamed', { frontends: [IP], endpoints: ['127.0.0.1:2'] });

let loaded: LoadedObject;
let tables: Tables;
let knowledge: Knowledge;

beforeEach(() => {
  const maxEntries = new Map([
    ['slots', SLOTS],
    ['frontends', FRONTENDS],
  ]);
  loaded = loadObject(OBJECT, { maxEntries, programs: [] });
  tables = new Tables(loaded.maps);
  knowledge = new Knowledge();
  knowledge.space = new SlotSpace({ capacity: SLOTS });
  knowledge.slotPrints = new Uint32Array(SLOTS);
});

afterEach(() => loaded.close());

async function write(...changes: readonly RowChange[]): Promise<void> {
  const transaction = new Transaction(knowledge, tables);
  assert.equal(transaction.plan(changes), undefined);
  await transaction.write();
}

test('leaves the maps in the tracked state when an address moves between rows', async () => {
  await write(change('absent', OLD));
  await write(change(OLD, undefined), change('absent', RENAMED));
  assert.deepEqual(await changesInMaps(tables, knowledge), []);
  await write(change(RENAMED, undefined));
  assert.deepEqual(await changesInMaps(tables, knowledge), []);
});

test('gives an address back to its row when the rest of the transaction is rejected', async () => {
  await write(change('absent', OLD));
  const key = frontendKeyOf(OLD, IP);
  const held = tables.frontends.lookup(key);
  // Another process has filled the map meanwhile, which the plane does not track.
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    tables.frontends.update(frontendKeyOf(OLD, clusterIp(address)), Buffer.alloc(FRONTEND.bytes));
  }
  const more = rowOf('more', { frontends: [clusterIp('10.96.0.2')], endpoints: [] });
  const changes = [change(OLD, undefined), change('absent', RENAMED), change('absent', more)];
  await assert.rejects(write(...changes), { code: 'BPF_FULL' });
  assert.deepEqual(tables.frontends.lookup(key), held);
});
