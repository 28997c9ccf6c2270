import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { getSystemErrorName } from 'node:util';
import { type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import type { IpvsWrite, VirtualServer } from '../../linux/ipvs/model.ts';
import { until } from '../../time/testing/until.ts';
import type { Drift } from '../contract.ts';
import { change } from '../shared/testing/change.ts';
import { IpvsPlane } from './plane.ts';
import { MemoryCapture } from './testing/memory-capture.ts';
import { MemoryIpvs } from './testing/memory-ipvs.ts';
import { clusterIp, endpoint, FACTS, nodePort, row } from './testing/rows.ts';
import { MOST_DESTINATIONS } from './wanted.ts';

const { EINVAL, ENOMEM } = constants.errno;
const ID = '10.96.0.1 TCP 80';

/** Everything that is written, in its order. */
class Stage {
  readonly written: string[] = [];
  readonly warnings: string[] = [];
  readonly ipvs: MemoryIpvs;
  readonly capture: MemoryCapture;
  readonly plane: IpvsPlane;
  /** Virtual servers that kube-proxy has taken. */
  readonly taken = new Set<string>();

  /** `of`: another process in the same kernel. */
  constructor(
    of: { ipvs?: MemoryIpvs; capture?: MemoryCapture; readonly rowsAtOnce?: number } = {},
  ) {
    this.ipvs = of.ipvs ?? new MemoryIpvs();
    this.capture = of.capture ?? new MemoryCapture();
    this.ipvs.isRefused = (write) => {
      this.written.push(textOf(write));
      return false;
    };
    this.capture.isRefused = (of) => {
      this.written.push(...Object.keys(of));
      return false;
    };
    this.plane = new IpvsPlane({
      ipvs: this.ipvs,
      capture: this.capture,
      scheduler: { name: 'rr', flags: [] },
      timeouts: () => ({ tcpSeconds: 0, tcpFinSeconds: 0, udpSeconds: 0 }),
      prepare: async () => undefined,
      servedByKubeProxy: async () => this.taken,
      onWarning: (message) => this.warnings.push(message),
      ...(of.rowsAtOnce === undefined ? {} : { rowsAtOnce: of.rowsAtOnce }),
    });
  }

  async start(rows: readonly Forwarding[] = []): Promise<this> {
    const { right } = await this.plane.inspect({ facts: FACTS, rows }, 'everything');
    const wrong = rows.filter(({ id }) => !right.has(servicePortKey(id)));
    await this.plane.apply(wrong.map((each) => change('unknown', each)));
    this.written.length = 0;
    return this;
  }

  weights(id = ID): Record<string, number> {
    const held = [...(this.ipvs.held.get(id)?.destinations ?? [])];
    return Object.fromEntries(held.map(([name, { destination }]) => [name, destination.weight]));
  }
}

function serving(...numbers: readonly number[]): Record<string, number> {
  return Object.fromEntries(numbers.map((number) => [`10.244.1.${number} 8080`, 1]));
}

function textOf(write: IpvsWrite): string {
  if (!('destination' in write)) return write.do;
  const { address, weight } = write.destination;
  return `${write.do} ${address.split('.').at(-1)} ${weight}`;
}

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

for (const refusesWith of [EINVAL, ENOMEM]) {
  const code = getSystemErrorName(-refusesWith);
  test(`leaves an address that IPVS refuses with ${code} to the plane behind, and applies its row`, async () => {
    const stage = await new Stage().start();
    stage.ipvs.refusesWith = refusesWith;
    stage.ipvs.isRefused = (write) => textOf(write) === 'add-destination 2 1';
    const other = row({ name: 'other', frontends: [nodePort(30080)], endpoints: [4] });
    await stage.plane.apply([change('absent', row()), change('absent', other)]);
    assert.deepEqual([...stage.capture.captured.keys()], ['192.168.50.1 TCP 30080']);
    assert.deepEqual([...stage.capture.refused.keys()], [ID]);
    assert.equal(stage.warnings.length, 1);
    assert.match(stage.warnings[0] ?? '', new RegExp(`10\\.244\\.1\\.2 .*${code}.* of ns/web/`));
    stage.ipvs.isRefused = () => false;
    await stage.plane.apply([change(row(), row({ endpoints: [2, 4] }))]);
    assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0, ...serving(2, 4) });
    assert.equal(stage.capture.captured.size, 2);
    assert.equal(stage.capture.refused.size, 0);
  });
}

test('gives an address to the plane behind when IPVS refuses a change of it, and keeps connections', async () => {
  const stage = await new Stage().start([row()]);
  stage.ipvs.connect(ID, '10.244.1.1 8080', 1);
  stage.ipvs.isRefused = (write) => textOf(write) === 'add-destination 4 1';
  const after = row({ endpoints: [1, 2, 4] });
  await stage.plane.apply([change(row(), after)]);
  assert.equal(stage.capture.captured.size, 0);
  await stage.plane.deleteDrained();
  assert.deepEqual(stage.weights(), { '10.244.1.1 8080': 0 });
  stage.ipvs.isRefused = () => false;
  await stage.start([after]);
  assert.deepEqual(stage.weights(), serving(1, 2, 4));
  assert.deepEqual([...stage.capture.captured.keys()], [ID]);
});

test('reads nothing and warns once when a refused row changes again and again', async () => {
  const stage = await new Stage().start([row({ name: 'other', frontends: [clusterIp(2)] })]);
  stage.ipvs.refusesWith = EINVAL;
  stage.ipvs.isRefused = (write) => 'destination' in write && write.destination.weight === 1;
  const reads = stage.ipvs.readCount;
  for (let round = 0; round < 5; round++) {
    await stage.plane.apply([change('absent', row())]);
    await stage.plane.apply([change(row(), row({ endpoints: [3] }))]);
    await stage.plane.apply([change(row({ endpoints: [3] }), undefined)]);
    await stage.plane.deleteDrained();
  }
  assert.equal(stage.ipvs.readCount, reads);
  assert.equal(stage.warnings.length, 1);
  assert.equal(stage.capture.refused.size, 0);
  assert.deepEqual([...stage.capture.servers.keys()], ['10.96.0.2 TCP 80']);
});

test('follows the addresses of the machine although IPVS refuses a node port', async () => {
  const rows = [30080, 30081, 30082].map((port) =>
    row({ name: `web-${port}`, frontends: [nodePort(port)] }),
  );
  const stage = await new Stage({ rowsAtOnce: 2 }).start(rows);
  stage.ipvs.isRefused = ({ server }) => server.port === 30081;
  const nodePortAddresses = { IPv4: ['192.168.50.2'], IPv6: 'all' } as const;
  await stage.plane.configure({ ...FACTS, nodePortAddresses });
  assert.deepEqual(
    [...stage.capture.captured.keys()],
    ['192.168.50.2 TCP 30080', '192.168.50.2 TCP 30082'],
  );
  assert.deepEqual([...stage.capture.refused.keys()], ['192.168.50.2 TCP 30081']);
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
  assert.equal(stage.capture.refused.size, 0);
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

test('asks nothing of IPVS where it never was', async () => {
  const stage = new Stage();
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
  assert.deepEqual(await stage.plane.ipvs(), {
    ...{ virtualServers: 1, destinations: 1, drainingDestinations: 1 },
    ...{ activeConnections: 3, inactiveConnections: 0 },
    schedulers: [{ name: 'rr', virtualServers: 1 }],
  });
});

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
