import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { getSystemErrorName } from 'node:util';
import { PlaneError } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import { clusterIp, FACTS, nodePort, row } from './testing/ipvs-rows.ts';
import { ID, Stage, serving, textOf } from './testing/ipvs-stage.ts';

const { EINVAL, ENOMEM } = constants.errno;

test('leaves rows with a scheduler that the kernel has not to the plane behind', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.missing = new Set(['lblc']);
  const after = row({ scheduler: { name: 'lblc', flags: [] } });
  const other = row({ name: 'other', frontends: [nodePort(30080)] });
  await stage.plane.apply([change(row(), after), change('absent', other)]);
  assert.deepEqual([...stage.capture.captured.keys()], ['192.168.50.1 TCP 30080']);
  assert.deepEqual(
    stage.warnings.map((text) => text.match(/scheduler \w+/)?.[0]),
    ['scheduler lblc'],
  );
  stage.ipvs.missing = new Set();
  await stage.start([after, other]);
  assert.equal(stage.capture.captured.size, 2);
});

for (const rejectsWith of [EINVAL, ENOMEM]) {
  const code = getSystemErrorName(-rejectsWith);
  test(`leaves an address that IPVS rejects with ${code} to the plane behind, and applies its row`, async () => {
    const stage = await new Stage().start();
    stage.ipvs.rejectsWith = rejectsWith;
    stage.ipvs.isRejected = (write) => textOf(write) === 'add-destination 2 1';
    const other = row({ name: 'other', frontends: [nodePort(30080)], endpoints: [4] });
    await stage.plane.apply([change('absent', row()), change('absent', other)]);
    assert.deepEqual([...stage.capture.captured.keys()], ['192.168.50.1 TCP 30080']);
    assert.deepEqual([...stage.capture.rejected.keys()], [ID]);
    assert.equal(stage.warnings.length, 1);
    assert.match(stage.warnings[0] ?? '', new RegExp(`10\\.244\\.1\\.2 .*${code}.* of ns/web/`));
    stage.ipvs.isRejected = () => false;
    await stage.plane.apply([change(row(), row({ endpoints: [2, 4] }))]);
    assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0, ...serving(2, 4) });
    assert.equal(stage.capture.captured.size, 2);
    assert.equal(stage.capture.rejected.size, 0);
  });
}

test('gives an address to the plane behind when IPVS rejects a change of it, and keeps connections', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.connect(ID, '10.244.1.1 8080', 1);
  stage.ipvs.isRejected = (write) => textOf(write) === 'add-destination 4 1';
  const after = row({ endpoints: [1, 2, 4] });
  await stage.plane.apply([change(row(), after)]);
  assert.equal(stage.capture.captured.size, 0);
  await stage.plane.deleteDrained();
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0 });
  stage.ipvs.isRejected = () => false;
  await stage.start([after]);
  assert.deepEqual(stage.weights(), serving(1, 2, 4));
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
});

test('reads nothing and warns once when a rejected row changes again and again', async () => {
  const stage = await new Stage().start([row({ name: 'other', frontends: [clusterIp(2)] })]);
  stage.ipvs.rejectsWith = EINVAL;
  stage.ipvs.isRejected = (write) => 'destination' in write && write.destination.weight === 1;
  const reads = stage.ipvs.readCount;
  for (let round = 0; round < 5; round++) {
    await stage.plane.apply([change('absent', row())]);
    await stage.plane.apply([change(row(), row({ endpoints: [3] }))]);
    await stage.plane.apply([change(row({ endpoints: [3] }), undefined)]);
    await stage.plane.deleteDrained();
  }
  assert.equal(stage.ipvs.readCount, reads);
  assert.equal(stage.warnings.length, 1);
  assert.equal(stage.capture.rejected.size, 0);
  assert.deepEqual([...stage.capture.servers.keys()], ['10.96.0.2 TCP 80']);
});

test('follows the addresses of the machine although IPVS rejects a node port', async () => {
  const rows = [30080, 30081, 30082].map((port) =>
    row({ name: `web-${port}`, frontends: [nodePort(port)] }),
  );
  const stage = await new Stage({ rowsAtOnce: 2 }).start(rows);
  stage.ipvs.isRejected = ({ server }) => server.port === 30081;
  const nodePortAddresses = { IPv4: ['192.168.50.2'], IPv6: 'all' } as const;
  await stage.plane.configure({ ...FACTS, nodePortAddresses });
  assert.deepEqual(
    [...stage.capture.captured.keys()],
    ['192.168.50.2 TCP 30080', '192.168.50.2 TCP 30082'],
  );
  assert.deepEqual([...stage.capture.rejected.keys()], ['192.168.50.2 TCP 30081']);
});

test('finds no difference in a row whose scheduler the kernel has not, and tries it again', async () => {
  const stage = new Stage();
  stage.ipvs.missing = new Set(['lblc']);
  const wanted = row({ scheduler: { name: 'lblc', flags: [] } });
  const desired = { facts: FACTS, rows: [wanted] };
  await stage.start([wanted]);
  assert.deepEqual(await new Stage(stage).plane.diff(desired), []);
  const { differences, differenceCount } = await stage.plane.inspect(desired, 'everything');
  assert.deepEqual([differences, differenceCount], [[], 0]);
  await stage.start([wanted]);
  assert.equal(stage.warnings.length, 1);
  stage.ipvs.missing = new Set();
  await stage.start([wanted]);
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
  assert.equal(stage.capture.rejected.size, 0);
});

test('leaves an address to the plane behind although IPVS rejects the writes that stop its destinations', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.isRejected = (write) =>
    ['add-destination 4 1', 'set-destination 1 0'].includes(textOf(write));
  const after = row({ endpoints: [1, 2, 4] });
  await stage.plane.apply([change(row(), after)]);
  assert.deepEqual([...stage.capture.captured.keys(), ...stage.capture.rejected.keys()], [ID]);
  assert.equal(stage.capture.captured.size, 0);
  stage.ipvs.isRejected = () => false;
  await stage.plane.apply([change(after, row({ endpoints: [2, 4] }))]);
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
});

test('names every row of a change as unknown when a rejected row cannot be left to the plane behind', async () => {
  const stage = await new Stage().start();
  const other = row({ name: 'other', frontends: [nodePort(30080)], endpoints: [4] });
  stage.ipvs.isRejected = (write) => textOf(write) === 'add-destination 2 1';
  stage.capture.isRejected = ({ rejectedAdd }) => rejectedAdd !== undefined;
  const changes = [change('absent', row()), change('absent', other)];
  await assert.rejects(stage.plane.apply(changes), (error) => {
    assert.ok(error instanceof PlaneError);
    assert.deepEqual(error.unknown, new Set(changes.map(({ key }) => key)));
    return true;
  });
  stage.ipvs.isRejected = () => false;
  stage.capture.isRejected = () => false;
  await stage.plane.apply([change('unknown', row()), change('unknown', other)]);
  assert.deepEqual([...stage.capture.captured.keys()].sort(), [ID, '192.168.50.1 TCP 30080']);
  assert.equal(stage.capture.rejected.size, 0);
});
