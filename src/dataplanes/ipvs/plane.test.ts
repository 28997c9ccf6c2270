import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import type { IpvsWrite } from '../../linux/ipvs/model.ts';
import { until } from '../../time/testing/until.ts';
import { type Drift, PlaneError } from '../contract.ts';
import { change } from '../shared/testing/change.ts';
import { Claims } from './claims.ts';
import { IpvsPlane } from './plane.ts';
import { MemoryCapture } from './testing/memory-capture.ts';
import { MemoryIpvs } from './testing/memory-ipvs.ts';
import { endpoint, FACTS, nodePort, row } from './testing/rows.ts';
import { MOST_DESTINATIONS, wantedServers } from './wanted.ts';

const ID = '10.96.0.1 TCP 80';

/** Everything that is written, in its order. */
class Stage {
  readonly written: string[] = [];
  readonly warnings: string[] = [];
  readonly ipvs = new MemoryIpvs();
  readonly capture = new MemoryCapture();
  readonly plane: IpvsPlane;

  constructor() {
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
      onWarning: (message) => this.warnings.push(message),
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

test('names the row of a refused write, keeps its address from IPVS, and writes the rest later', async () => {
  const stage = await new Stage().start();
  stage.ipvs.isRefused = (write) => textOf(write) === 'add-destination 2 1';
  const other = row({ name: 'other', frontends: [nodePort(30080)], endpoints: [4] });
  await assert.rejects(
    stage.plane.apply([change('absent', row()), change('absent', other)]),
    (error) => {
      assert.ok(error instanceof PlaneError);
      assert.equal(error.code, 'IPVS_ENOMEM');
      assert.equal(error.culprit, servicePortKey(row().id));
      assert.deepEqual(error.unknown, new Set([row(), other].map(({ id }) => servicePortKey(id))));
      return true;
    },
  );
  assert.deepEqual([...stage.capture.captured.keys()], ['192.168.50.1 TCP 30080']);
  stage.written.length = 0;
  stage.ipvs.isRefused = (write) => stage.written.push(textOf(write)) === 0;
  await stage.plane.apply([change('unknown', row()), change('unknown', other)]);
  assert.deepEqual(stage.written, ['add-destination 2 1', 'take']);
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

test('gives no connection to destinations that another process left at the address of a new row', async () => {
  const stage = await new Stage().start();
  const [wanted] = wantedServers(row(), {
    addresses: { IPv4: [], IPv6: [] },
    claims: new Claims(),
    scheduler: { name: 'wlc', flags: [] },
  });
  assert.ok(wanted);
  const { server } = wanted;
  const foreign = { address: '10.9.9.9', port: 1, weight: 5 };
  await stage.ipvs.write([
    { do: 'add-server', server },
    { do: 'add-destination', server, destination: foreign },
  ]);
  await stage.plane.apply([change('absent', row())]);
  const { destinations } = (await stage.ipvs.read()).get(wanted.id) ?? { destinations: [] };
  const serving = destinations.filter(({ weight }) => weight > 0).map(({ address }) => address);
  assert.deepEqual(
    serving.sort(),
    row()
      .clusterEndpoints.map(({ address }) => address)
      .sort(),
  );
  assert.ok(stage.capture.captured.has(wanted.id));
});
