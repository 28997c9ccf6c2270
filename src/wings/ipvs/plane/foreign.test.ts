import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { VirtualServer } from '../../../linux/ipvs/ipvs-model.ts';
import { clusterIp, FACTS, row } from './testing/ipvs-rows.ts';
import { ID, Stage, serving } from './testing/ipvs-stage.ts';

/** As another process has it, such as keepalived. */
async function addForeign(stage: Stage, address = '10.96.0.1'): Promise<string> {
  const server: VirtualServer = {
    ...{ protocol: 'TCP' as const, address, port: 80 },
    ...{ scheduler: 'wlc', schedulerFlags: ['unmarked'], persistenceSeconds: 0 },
  };
  await stage.ipvs.write([
    { do: 'add-server', server },
    { do: 'add-destination', server, destination: { address: '10.9.9.9', port: 1, weight: 5 } },
  ]);
  return JSON.stringify([...(await stage.ipvs.read())]);
}

async function assertForeignIsLeft(stage: Stage, foreign: string): Promise<void> {
  assert.equal(JSON.stringify([...(await stage.ipvs.read())]), foreign);
  assert.deepEqual([...stage.capture.captured.keys(), ...stage.capture.servers.keys()], []);
}

test('leaves the virtual server of another process alone at the address of a new row', async () => {
  const stage = await new Stage().start();
  const foreign = await addForeign(stage);
  await stage.plane.apply([change('absent', row())]);
  await stage.plane.apply([change(row(), row({ endpoints: [3] }))]);
  await assertForeignIsLeft(stage, foreign);
  assert.match(stage.warnings.join(), /^virtual server 10.96.0.1 TCP 80 is of another process/);
  assert.equal(stage.written.includes('serversAdd'), false);
  const desired = { facts: FACTS, rows: [row({ endpoints: [3] })] };
  assert.deepEqual(await stage.plane.diff(desired), []);
  assert.equal((await stage.plane.inspect(desired, 'everything')).right.size, 1);
  await stage.plane.apply([change(row({ endpoints: [3] }), undefined)]);
  await assertForeignIsLeft(stage, foreign);
  assert.equal(stage.capture.rejected.size, 0);
});

test('leaves the virtual server of another process alone at an inspection and a removal', async () => {
  const stage = new Stage();
  const foreign = await addForeign(stage);
  await stage.start([row()]);
  await assertForeignIsLeft(stage, foreign);
  assert.equal(stage.warnings.length, 1);
  await stage.plane.retire();
  await assertForeignIsLeft(stage, foreign);
  await stage.start([row()]);
  await stage.plane.remove();
  await assertForeignIsLeft(stage, foreign);
});

test('leaves a virtual server alone that another process adds just before it', async () => {
  const stage = await new Stage().start();
  let foreign = '';
  stage.capture.isRejected = ({ serversAdd }) => {
    if (serversAdd) void addForeign(stage).then((text) => (foreign = text));
    return false;
  };
  await stage.plane.apply([change('absent', row())]);
  await assertForeignIsLeft(stage, foreign);
  assert.deepEqual([...stage.capture.rejected.keys()], [ID]);
});

test('knows its own virtual servers when another process has deleted the tables', async () => {
  const stage = await new Stage().start([row(), row({ name: 'gone', frontends: [clusterIp(2)] })]);
  stage.ipvs.connect('10.96.0.2 TCP 80', '10.244.1.1 8080', 1);
  await stage.plane.apply([change(row({ name: 'gone', frontends: [clusterIp(2)] }), undefined)]);
  await stage.capture.remove();
  await stage.start([row()]);
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
  assert.deepEqual([...stage.capture.servers.keys()].sort(), [ID, '10.96.0.2 TCP 80']);
  assert.deepEqual(stage.warnings, []);
});

/** As after `nft flush ruleset` while no agent ran; another process has a virtual server too. */
async function startWithoutTables(): Promise<Stage> {
  const before = await new Stage().start([
    row({ endpoints: [1, 2] }),
    row({ name: 'gone', frontends: [clusterIp(2)] }),
  ]);
  await addForeign(before, '10.96.0.3');
  await before.capture.remove();
  return new Stage({ ipvs: before.ipvs, capture: before.capture });
}

test('owns its virtual servers at a start after the tables were deleted', async () => {
  const stage = await startWithoutTables();
  const [id, goneId, foreignId] = [ID, '10.96.0.2 TCP 80', '10.96.0.3 TCP 80'];
  await stage.start([row({ endpoints: [2, 3] }), row({ name: 'keep', frontends: [clusterIp(3)] })]);
  assert.deepEqual([...stage.capture.captured.keys()], [id]);
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0, ...serving(2, 3) });
  assert.match(stage.warnings.join(), /^virtual server 10.96.0.3 TCP 80 is of another process/);
  await stage.plane.deleteDrained();
  assert.deepEqual([...stage.ipvs.held.keys()].sort(), [id, foreignId]);
  assert.deepEqual(stage.weights(foreignId), { '10.9.9.9 1': 5 });
  assert.equal(stage.capture.servers.has(goneId), false);
});

for (const how of ['remove', 'retire'] as const) {
  test(`${how}s its virtual servers after the tables were deleted`, async () => {
    const stage = await startWithoutTables();
    stage.ipvs.connect(ID, '10.244.1.1 8080', how === 'retire' ? 1 : 0);
    assert.deepEqual(await stage.plane.inventory(), [{ what: 'virtual servers', count: 2 }]);
    if (how === 'retire') {
      assert.equal(await stage.plane.retire(), 'draining');
      assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0, '10.244.1.2 8080': 0 });
      stage.ipvs.connect(ID, '10.244.1.1 8080', 0);
      assert.equal(await stage.plane.retire(), 'removed');
    } else await stage.plane.remove();
    assert.deepEqual([...stage.ipvs.held.keys()], ['10.96.0.3 TCP 80']);
    assert.deepEqual(stage.weights('10.96.0.3 TCP 80'), { '10.9.9.9 1': 5 });
  });
}

test('marks a virtual server that an earlier version wrote, in place', async () => {
  const stage = await new Stage().start([row()]);
  const held = stage.ipvs.held.get(ID);
  assert.ok(held);
  held.server = { ...held.server, schedulerFlags: ['unmarked'] };
  await stage.plane.inspect({ facts: FACTS, rows: [row()] }, 'everything');
  await stage.plane.apply([change('unknown', row())]);
  assert.deepEqual(stage.written, ['set-server']);
  assert.deepEqual(held.server.schedulerFlags, []);
});

test('serves what another process had when that is adopted', async () => {
  const stage = new Stage();
  await addForeign(stage);
  await stage.start([row()]);
  await stage.plane.adopt([{ address: '10.96.0.1', protocol: 'TCP', port: 80 }]);
  await stage.start([row()]);
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
  assert.deepEqual(stage.weights(), { '10.9.9.9 1': 0, ...serving(1, 2) });
});
