import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualServer } from '../../linux/ipvs/model.ts';
import { change } from '../shared/testing/change.ts';
import { clusterIp, FACTS, row } from './testing/rows.ts';
import { ID, Stage, serving } from './testing/stage.ts';

/** As another process has it, such as keepalived. */
async function addForeign(stage: Stage): Promise<string> {
  const server: VirtualServer = {
    ...{ protocol: 'TCP' as const, address: '10.96.0.1', port: 80 },
    ...{ scheduler: 'wlc', schedulerFlags: [], persistenceSeconds: 0 },
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
  assert.equal(stage.capture.refused.size, 0);
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
  stage.capture.isRefused = ({ serversAdd }) => {
    if (serversAdd) void addForeign(stage).then((text) => (foreign = text));
    return false;
  };
  await stage.plane.apply([change('absent', row())]);
  await assertForeignIsLeft(stage, foreign);
  assert.deepEqual([...stage.capture.refused.keys()], [ID]);
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

test('serves what another process had when that is adopted', async () => {
  const stage = new Stage();
  await addForeign(stage);
  await stage.start([row()]);
  await stage.plane.adopt([{ address: '10.96.0.1', protocol: 'TCP', port: 80 }]);
  await stage.start([row()]);
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
  assert.deepEqual(stage.weights(), { '10.9.9.9 1': 0, ...serving(1, 2) });
});
