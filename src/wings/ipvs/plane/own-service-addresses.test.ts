import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeFacts } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import { ownNow } from './own-service-addresses.ts';
import { FACTS, row } from './testing/ipvs-rows.ts';
import { ID, Stage, serving } from './testing/ipvs-stage.ts';

const WITH_THE_CLUSTER_IP: NodeFacts = { ...FACTS, ownAddresses: ['10.96.0.1', '192.168.50.1'] };

test('has no virtual server at a ClusterIP while the node has it itself', async () => {
  const stage = await new Stage().start([row()]);
  const drifts: boolean[] = [];
  const stop = new AbortController();
  const watching = stage.plane.watch(({ isOwn = false }) => drifts.push(isOwn), stop.signal);
  // An open connection would keep it: IPVS would take the packets to the process of the node.
  stage.ipvs.connect(ID, '10.244.1.2 8080', 1);
  await stage.plane.configure(WITH_THE_CLUSTER_IP);
  assert.deepEqual(drifts, [true]);
  const desired = { facts: WITH_THE_CLUSTER_IP, rows: [row()] };
  const { right } = await stage.plane.inspect(desired, 'reported');
  assert.equal(right.size, 1);
  assert.deepEqual(stage.written.splice(0), [
    ...['pass', 'delete-destination 1 1', 'delete-destination 2 1', 'delete-server'],
    ...['serversDelete', 'hairpinDelete'],
  ]);
  assert.deepEqual((await stage.plane.diff(desired)).length, 0);
  await stage.plane.apply([change(row(), row({ endpoints: [2] }))]);
  assert.equal(stage.ipvs.held.size, 0);

  await stage.plane.configure(FACTS);
  assert.deepEqual(drifts, [true, true]);
  const back = await stage.plane.inspect({ facts: FACTS, rows: [row()] }, 'reported');
  assert.equal(back.right.size, 0);
  await stage.plane.apply([change('unknown', row())]);
  assert.deepEqual(stage.weights(), serving(1, 2));
  stop.abort();
  await watching;
});

test("counts no address on kube-proxy's device, nor one that the node has lost since", async () => {
  const facts = { ...FACTS, ownAddresses: ['10.96.0.1', '10.96.0.10', '192.168.50.1'] };
  assert.deepEqual([...(await ownNow(facts, undefined))], ['10.96.0.1', '10.96.0.10']);
  const own = new Set(['10.96.0.10', '192.168.50.1']);
  assert.deepEqual([...(await ownNow(facts, async () => own))], ['10.96.0.10']);
  const readOwn = () => assert.fail('reads addresses although none is of a Service');
  assert.deepEqual([...(await ownNow({ ...FACTS, ownAddresses: ['192.168.50.1'] }, readOwn))], []);
});
