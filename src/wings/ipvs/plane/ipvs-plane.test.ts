import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Drift } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import { IpvsError } from '../../../linux/ipvs/ipvs-error.ts';
import { until } from '../../../time/testing/until.ts';
import { endpoint, FACTS, nodePort, row } from './testing/ipvs-rows.ts';
import { ID, Stage, serving } from './testing/ipvs-stage.ts';
import type { MemoryIpvs } from './testing/memory-ipvs.ts';
import { MOST_DESTINATIONS } from './wanted.ts';

test('gives IPVS connections last, after the virtual server has destinations', async () => {
  const stage = await new Stage().start();
  await stage.plane.apply([change('absent', row())]);
  assert.deepEqual(stage.written, [
    ...['serversAdd', 'hairpinAdd', 'add-server'],
    ...['add-destination 1 1', 'add-destination 2 1', 'take'],
  ]);
});

test('takes the connections from IPVS first, and deletes what has drained', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.connect(ID, '10.244.1.2 8080', 1);
  await stage.plane.apply([change(row(), undefined)]);
  assert.deepEqual(stage.written.splice(0), [
    ...['pass', 'set-destination 1 0', 'set-destination 2 0', 'hairpinDelete'],
  ]);
  await stage.plane.deleteDrained();
  assert.deepEqual(stage.written.splice(0), ['delete-destination 1 0']);
  stage.ipvs.connect(ID, '10.244.1.2 8080', 0);
  await stage.plane.deleteDrained();
  assert.deepEqual(stage.written.splice(0), [
    ...['delete-destination 2 0', 'delete-server', 'serversDelete'],
  ]);
  assert.equal(stage.ipvs.held.size, 0);
});

test('serves by new endpoints before old ones get no connection', async () => {
  const stage = await new Stage().start([row()]);
  await stage.plane.apply([change(row(), row({ endpoints: [2, 4] }))]);
  assert.deepEqual(stage.written.splice(0), [
    ...['add-destination 4 1', 'set-destination 1 0', 'hairpinDelete'],
  ]);
  await stage.plane.apply([change(row({ endpoints: [2, 4] }), row())]);
  assert.deepEqual(stage.written, [
    ...['hairpinAdd', 'set-destination 1 1', 'set-destination 4 0'],
  ]);
});

test('changes scheduler and affinity in place', async () => {
  const stage = await new Stage().start([row()]);
  const after = row({ affinitySeconds: 60, scheduler: { name: 'lc', flags: [] } });
  await stage.plane.apply([change(row(), after)]);
  assert.deepEqual(stage.written, ['set-server']);
});

test('deletes a destination at once where the scheduler would choose it at weight 0', async () => {
  const scheduler = { name: 'dh', flags: [] };
  const stage = await new Stage().start([row({ scheduler })]);
  await stage.plane.apply([change(row({ scheduler }), row({ scheduler, endpoints: [2] }))]);
  assert.deepEqual(stage.weights(), { '10.244.1.2 8080': 1 });
});

test('leaves a row to the plane behind while its list is too long for IPVS', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.connect(ID, '10.244.1.2 8080', 1);
  const many = Array.from({ length: MOST_DESTINATIONS }, (_, at) => ({
    ...endpoint(4),
    port: at + 1,
  }));
  const long = { ...row(), clusterEndpoints: [...row().clusterEndpoints, ...many] };
  await stage.plane.apply([change(row(), long)]);
  assert.equal(stage.capture.captured.size, 0);
  await stage.plane.deleteDrained();
  assert.deepEqual(stage.weights(), { '10.244.1.2 8080': 0 });
  await stage.plane.apply([change(long, row())]);
  assert.deepEqual(stage.weights(), { '10.244.1.2 8080': 1, '10.244.1.1 8080': 1 });
  assert.equal(stage.capture.captured.size, 1);
});

test('moves node ports a few rows at a time', async () => {
  const rows = Array.from({ length: 250 }, (_, at) =>
    row({ name: `web-${at}`, frontends: [nodePort(30000 + at)] }),
  );
  const stage = await new Stage().start(rows);
  const sizes: number[] = [];
  const write = stage.ipvs.write.bind(stage.ipvs);
  stage.ipvs.write = (writes) => {
    sizes.push(writes.length);
    return write(writes);
  };
  const nodePortAddresses = { IPv4: ['192.168.50.1', '192.168.50.2'], IPv6: 'all' } as const;
  await stage.plane.configure({ ...FACTS, nodePortAddresses });
  // A virtual server, then two destinations, of at most a hundred rows.
  assert.deepEqual(sizes, [100, 200, 100, 200, 50, 100]);
  assert.equal(stage.capture.captured.size, 500);
});

test('applies changes while the drainer reads', async () => {
  const stage = await new Stage().start([row()]);
  await stage.plane.apply([change(row(), row({ endpoints: [2] }))]);
  const reading = Promise.withResolvers<void>();
  const read = stage.ipvs.destinationsOf.bind(stage.ipvs);
  stage.ipvs.destinationsOf = async (servers) => {
    const found = await read(servers);
    await reading.promise;
    return found;
  };
  const draining = stage.plane.deleteDrained();
  await stage.plane.apply([change(row({ endpoints: [2] }), row())]);
  stage.ipvs.connect(ID, '10.244.1.1 8080', 1);
  await stage.plane.apply([change(row(), row({ endpoints: [2] }))]);
  reading.resolve();
  await draining;
  // It has a connection since it was read.
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0, ...serving(2) });
});

test('goes on watching when what has drained cannot be deleted, and reports it once', async () => {
  const stage = await new Stage().start([row()]);
  const drifts: Drift[] = [];
  const stop = new AbortController();
  const watching = stage.plane.watch((drift) => drifts.push(drift), stop.signal);
  let rejectedCount = 0;
  stage.capture.isRejected = ({ serversDelete = [] }) => {
    rejectedCount += serversDelete.length;
    return serversDelete.length > 0;
  };
  await stage.plane.apply([change(row(), undefined)]);
  await until('two passes were rejected', () => rejectedCount >= 2);
  assert.deepEqual(
    drifts.map(({ what }) => what),
    ['cannot delete what has drained in IPVS: the kernel rejected a transaction'],
  );
  stage.capture.isRejected = () => false;
  await until('a pass has ended', () => stage.capture.servers.size === 0);
  stop.abort();
  await watching;
});

test('reports the deletion of everything by another process as drift, and repairs it', async () => {
  const stage = await new Stage().start([row()]);
  const drifts: Drift[] = [];
  const stop = new AbortController();
  const watching = stage.plane.watch((drift) => drifts.push(drift), stop.signal);
  const polls = countPolls(stage.ipvs);
  await until('a fingerprint was believed', () => polls.count > 1);
  stage.ipvs.held.clear();
  await until('drift is reported', () => drifts.length > 0);
  assert.equal(drifts[0]?.isOwn, undefined);
  const { right } = await stage.plane.inspect({ facts: FACTS, rows: [row()] }, 'reported');
  assert.equal(right.size, 0);
  // Until the row is written, the plane behind serves.
  assert.equal(stage.capture.captured.size, 0);
  await stage.plane.apply([change('unknown', row())]);
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 1, '10.244.1.2 8080': 1 });
  stop.abort();
  await watching;
});

test('reports a change that another process makes before the first poll', async () => {
  const other = row({ frontends: [nodePort(30080)] });
  const stage = await new Stage().start([row(), { ...other, id: { ...other.id, service: 'b' } }]);
  stage.ipvs.held.delete(ID);
  const drifts: Drift[] = [];
  const stop = new AbortController();
  const watching = stage.plane.watch((drift) => drifts.push(drift), stop.signal);
  try {
    await until('drift is reported', () => drifts.length > 0);
  } finally {
    stop.abort();
    await watching;
  }
  assert.equal(drifts[0]?.isOwn, undefined);
});

function countPolls(ipvs: MemoryIpvs): { count: number } {
  const polls = { count: 0 };
  const fingerprint = ipvs.fingerprint.bind(ipvs);
  ipvs.fingerprint = () => {
    polls.count += 1;
    return fingerprint();
  };
  return polls;
}

test('retires: keeps connections, deletes the rest, and is removed after the last', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.connect(ID, '10.244.1.2 8080', 1);
  assert.equal(await stage.plane.retire(), 'draining');
  assert.equal(stage.capture.tables, 'retired');
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0, '10.244.1.2 8080': 0 });
  stage.ipvs.connect(ID, '10.244.1.2 8080', 0);
  assert.equal(await stage.plane.retire(), 'removed');
  assert.equal(stage.capture.tables, 'absent');
  assert.equal(stage.ipvs.held.size, 0);
});

test('leaves virtual servers that kube-proxy has taken when it is removed', async () => {
  const other = row({ frontends: [nodePort(30080)] });
  const stage = await new Stage().start([row(), { ...other, id: { ...other.id, service: 'b' } }]);
  stage.taken.add(ID);
  await stage.plane.remove();
  assert.deepEqual([...stage.ipvs.held.keys()], [ID]);
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 1, '10.244.1.2 8080': 1 });
  assert.equal(stage.capture.tables, 'absent');
});

test('asks nothing of IPVS where it is not loaded', async () => {
  const stage = new Stage();
  stage.ipvs.fingerprint = () => Promise.reject(new IpvsError('IPVS_MISSING'));
  stage.ipvs.read = () => assert.fail('reads IPVS');
  stage.ipvs.write = () => assert.fail('writes IPVS');
  stage.ipvs.timeouts = () => assert.fail('asks for timeouts');
  await stage.plane.remove();
  assert.equal(await stage.plane.retire(), 'removed');
  assert.deepEqual(await stage.plane.inventory(), []);
});

test('moves virtual servers of node ports to the addresses of the machine', async () => {
  const stage = await new Stage().start([row({ frontends: [nodePort(30080)] })]);
  const nodePortAddresses = { IPv4: ['192.168.50.2'], IPv6: 'all' } as const;
  await stage.plane.configure({ ...FACTS, nodePortAddresses });
  assert.deepEqual([...stage.capture.captured.keys()], ['192.168.50.2 TCP 30080']);
  assert.deepEqual(stage.weights('192.168.50.1 TCP 30080'), {
    ...{ '10.244.1.1 8080': 0, '10.244.1.2 8080': 0 },
  });
});

test('sums up what IPVS has, draining destinations apart', async () => {
  const stage = await new Stage().start([row()]);
  await stage.plane.apply([change(row(), row({ endpoints: [2] }))]);
  stage.ipvs.connect(ID, '10.244.1.1 8080', 3);
  assert.deepEqual(await stage.plane.report(), {
    ...{ virtualServers: 1, destinations: 1, drainingDestinations: 1 },
    ...{ activeConnections: 3, inactiveConnections: 0 },
    schedulers: [{ name: 'rr', virtualServers: 1 }],
  });
});
