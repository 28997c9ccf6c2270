import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import { nodePortAddresses } from './ipvs-node-port-addresses.ts';
import { ownServiceAddresses } from './own-service-addresses.ts';
import { Claims } from './server-claims.ts';
import {
  clusterIp,
  endpoint,
  everybody,
  externalIp,
  FACTS,
  LOCAL_OUTSIDE,
  nodePort,
  type RowRecipe,
  row,
  to,
} from './testing/ipvs-rows.ts';
import { MOST_DESTINATIONS, MOST_DESTINATIONS_OF_A_ROW, wantedServers } from './wanted.ts';

function wanted(rows: readonly Forwarding[], facts = FACTS) {
  const claims = new Claims();
  for (const each of rows) claims.set(servicePortKey(each.id), each);
  const scheduler = { name: 'rr', flags: [] };
  const own = ownServiceAddresses(facts);
  const by = { addresses: nodePortAddresses(facts), own, claims, scheduler };
  return rows.flatMap((each) => wantedServers(each, by));
}

test('captures all classes that go to one list, and masquerades as each says', () => {
  const outcomes = { pod: to('cluster'), host: to('cluster', true), outside: to('cluster', true) };
  const [server] = wanted([row({ frontends: [clusterIp(1, { outcomes })] })]);
  assert.deepEqual(server?.captured.capture, {
    pod: 'take',
    host: 'take-and-masquerade',
    outside: 'take-and-masquerade',
  });
  assert.deepEqual(
    server?.endpoints.map(({ address }) => address),
    ['10.244.1.1', '10.244.1.2'],
  );
});

test('captures the classes of the list of outside, and passes the others', () => {
  const [server] = wanted([row({ frontends: [clusterIp(1, { outcomes: LOCAL_OUTSIDE })] })]);
  assert.deepEqual(server?.captured.capture, { pod: 'pass', host: 'pass', outside: 'take' });
  assert.deepEqual(
    server?.endpoints.map(({ address }) => address),
    ['10.244.1.1'],
  );
});

test('passes UDP of the node itself in IPv6, whose long datagrams IPVS rejects', () => {
  const captureOf = (recipe: RowRecipe) =>
    wanted([row({ frontends: [clusterIp(1)], ...recipe })])[0]?.captured.capture;
  const all = { pod: 'take', host: 'take', outside: 'take' };
  assert.deepEqual(captureOf({ protocol: 'UDP', family: 'IPv6' }), { ...all, host: 'pass' });
  assert.deepEqual(captureOf({ protocol: 'UDP', family: 'IPv4' }), all);
  assert.deepEqual(captureOf({ protocol: 'TCP', family: 'IPv6' }), all);
});

for (const [what, given] of [
  [
    'that rejects',
    row({ frontends: [clusterIp(1, { outcomes: everybody({ action: 'reject' }) })] }),
  ],
  [
    'that drops the outside',
    row({
      frontends: [clusterIp(1, { outcomes: { ...LOCAL_OUTSIDE, outside: { action: 'drop' } } })],
    }),
  ],
  ['with source ranges', row({ frontends: [clusterIp(1, { allowedSources: ['10.0.0.0/8'] })] })],
  [
    'that is not served',
    row({ frontends: [clusterIp(1, { notServed: { reason: 'api-server' } })] }),
  ],
  ['without endpoints', row({ endpoints: [] })],
  ['of a row that opted out', { ...row(), onlyPackets: true as const }],
] as const) {
  test(`leaves a frontend ${what} to the plane behind`, () => {
    assert.deepEqual(wanted([given]), []);
  });
}

test('leaves a list that is too long for IPVS to the plane behind', () => {
  const clusterEndpoints = Array.from({ length: MOST_DESTINATIONS }, (_, at) => ({
    ...endpoint(2),
    port: at + 1,
  }));
  assert.equal(wanted([{ ...row(), clusterEndpoints }]).length, 1);
  const more = [...clusterEndpoints, endpoint(4)];
  assert.deepEqual(wanted([{ ...row(), clusterEndpoints: more }]), []);
});

test('serves a node port at each address of the machine but loopback and Service addresses', () => {
  const of = { frontends: [nodePort(30080)] };
  assert.deepEqual(
    wanted([row(of), row({ ...of, name: 'six', family: 'IPv6' })]).map(({ id }) => id),
    ['192.168.50.1 TCP 30080', 'fd00:50::1 TCP 30080'],
  );
});

test('serves no node port where a frontend has the same address and port', () => {
  const rows = [
    row({ frontends: [nodePort(30080)] }),
    row({ name: 'named', frontends: [externalIp('192.168.50.1', 30080)] }),
  ];
  assert.deepEqual(
    wanted(rows).map(({ id, row: key }) => `${id} of ${key}`),
    ['192.168.50.1 TCP 30080 of ns/named/TCP/IPv4'],
  );
});

test('takes scheduler, flags, weight and affinity from the row', () => {
  const scheduler = { name: 'mh', flags: ['mh-port'], weight: 7 };
  const [server] = wanted([row({ scheduler, affinitySeconds: 90 })]);
  assert.equal(server?.weight, 7);
  assert.deepEqual(server?.server, {
    ...{ protocol: 'TCP', address: '10.96.0.1', port: 80, persistenceSeconds: 90 },
    ...{ scheduler: 'mh', schedulerFlags: ['mh-port'] },
  });
});

test('leaves a row to the plane behind whose addresses times endpoints are too many for IPVS', () => {
  const clusterEndpoints = Array.from({ length: 1000 }, (_, at) => ({
    ...endpoint(2),
    port: 1000 + at,
  }));
  const most = MOST_DESTINATIONS_OF_A_ROW / clusterEndpoints.length;
  const withAddresses = (count: number) => ({
    ...row({ frontends: Array.from({ length: count }, (_, at) => clusterIp(at + 1)) }),
    clusterEndpoints,
  });
  assert.equal(wanted([withAddresses(most)]).length, most);
  assert.equal(wanted([withAddresses(most + 1)]).length, 0);
});

test('leaves lists to the plane behind with an endpoint that IPVS rejects', () => {
  for (const address of ['225.1.2.3', '255.255.255.255', 'ff02::1', 'fe80::1']) {
    assert.deepEqual(wanted([{ ...row(), clusterEndpoints: [{ ...endpoint(2), address }] }]), []);
  }
});
