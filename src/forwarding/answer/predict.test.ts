import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceObject, SliceObject } from '../../cluster/objects.ts';
import type { Forwarding } from '../model.ts';
import { ForwardingTable } from '../table.ts';
import { elsewhere, endpoint, service, slice, view } from '../testing/example-objects.ts';
import { sourceAt, sourceOfClass } from './connection-source.ts';
import type { Place, PlaceFacts } from './place.ts';
import { predict } from './predict.ts';
import type { Prediction } from './prediction.ts';

const FACTS: PlaceFacts = {
  podDetection: { IPv4: { by: 'cidr', cidr: '10.1.0.0/24' }, IPv6: undefined },
  nodePortAddresses: { IPv4: ['172.30.1.1'], IPv6: [] },
  serviceRanges: ['10.96.0.0/16'],
};

function placeWith(more: Partial<PlaceFacts> = {}, rest: Partial<Place> = {}): Place {
  return { view: view(), facts: { ...FACTS, ...more }, machineAddresses: [], ...rest };
}

const PLACE = placeWith();
const ALL_LEFT = {
  unknownPorts: true,
  ownPacketsToExternalIPs: true,
  limitsWithoutEndpoints: true,
};

/** Every kind of address, policy Local for external ones, an endpoint here and one elsewhere. */
const EDGE = service({
  type: 'LoadBalancer',
  externalTrafficPolicy: 'Local',
  externalIPs: ['198.18.0.1'],
  loadBalancerIPs: [{ ip: '198.18.0.2', ipMode: 'VIP' }],
  loadBalancerSourceRanges: ['203.0.113.0/24'],
  ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
});
const BOTH = slice([endpoint('10.1.0.5'), elsewhere('10.1.9.5')]);
const AWAY = slice([elsewhere('10.1.9.5')]);

function rowsOf(services: readonly ServiceObject[], slices: readonly SliceObject[] = []) {
  const table = new ForwardingTable(view());
  for (const each of services) table.putService(each);
  for (const each of slices) table.putSlice(each);
  return table.rows();
}

interface Asked {
  /** A class or an address. */
  readonly from?: string;
  readonly place?: Place;
  readonly protocol?: 'TCP' | 'UDP';
}

/** `at`: an address and port of IPv4. */
function ask(rows: readonly Forwarding[], at: string, asked: Asked = {}): Prediction {
  const { from = 'pod', place = PLACE, protocol = 'TCP' } = asked;
  const [address = '', port] = at.split(':');
  const source =
    from === 'pod' || from === 'host' || from === 'outside'
      ? sourceOfClass(from, 'IPv4', place)
      : sourceAt(from, place);
  return predict({ source, to: { address, port: Number(port), protocol } }, rows, place);
}

/** `REACHES cluster masquerade 10.1.0.5,10.1.9.5`, `NO_SUCH_ADDRESS drop`. */
function brief(prediction: Prediction): string {
  if (prediction.code !== 'WOULD_REACH') return `${prediction.code} ${prediction.action}`;
  const { list, masquerade, endpoints } = prediction;
  const seen = masquerade ? 'masquerade' : 'plain';
  return `REACHES ${list} ${seen} ${endpoints.map(({ address }) => address).join()}`;
}

describe('predict()', () => {
  const rows = rowsOf([EDGE], [BOTH]);

  it('follows the outcome of the source class at each frontend', () => {
    const all = 'REACHES cluster plain 10.1.0.5,10.1.9.5';
    const masqueraded = 'REACHES cluster masquerade 10.1.0.5,10.1.9.5';
    assert.equal(brief(ask(rows, '10.96.0.1:80')), all);
    assert.equal(brief(ask(rows, '10.96.0.1:80', { from: 'host' })), masqueraded);
    assert.equal(brief(ask(rows, '198.18.0.1:80', { from: 'host' })), masqueraded);
    const local = 'REACHES local plain 10.1.0.5';
    assert.equal(brief(ask(rows, '198.18.0.1:80', { from: 'outside' })), local);
    assert.equal(brief(ask(rows, '172.30.1.1:30080', { from: 'outside' })), local);
  });

  it('drops where the policy is Local and no endpoint is here', () => {
    const away = rowsOf([EDGE], [AWAY]);
    const dropped = 'DROPPED_NO_LOCAL_ENDPOINTS drop';
    assert.equal(brief(ask(away, '198.18.0.1:80', { from: 'outside' })), dropped);
    assert.equal(brief(ask(away, '198.18.0.1:80')), 'REACHES cluster plain 10.1.9.5');
  });

  it('drops a client outside of the source ranges, at load-balancer addresses only', () => {
    const dropped = 'DROPPED_SOURCE_RANGE drop';
    assert.equal(brief(ask(rows, '198.18.0.2:80', { from: '192.0.2.1' })), dropped);
    assert.equal(brief(ask(rows, '198.18.0.2:80', { from: '10.1.0.9' })), dropped);
    const reaches = 'REACHES local plain 10.1.0.5';
    assert.equal(brief(ask(rows, '198.18.0.2:80', { from: '203.0.113.9' })), reaches);
    assert.equal(brief(ask(rows, '198.18.0.1:80', { from: '192.0.2.1' })), reaches);
  });

  it('rejects where there is no endpoint', () => {
    const empty = rowsOf([EDGE]);
    const rejected = 'REFUSED_NO_ENDPOINTS reject';
    for (const at of ['10.96.0.1:80', '198.18.0.1:80', '172.30.1.1:30080']) {
      assert.equal(brief(ask(empty, at, { from: 'host' })), rejected, at);
    }
  });

  it('rejects a port that a cluster IP does not have, and drops an unassigned address', () => {
    assert.equal(brief(ask(rows, '10.96.0.1:81')), 'PORT_NOT_DECLARED reject');
    const asUdp = ask(rows, '10.96.0.1:80', { protocol: 'UDP' });
    assert.equal(brief(asUdp), 'PORT_NOT_DECLARED reject');
    assert.equal(brief(ask(rows, '10.96.7.7:80')), 'NO_SUCH_ADDRESS drop');
  });

  it('drops a port that a load-balancer address inside a Service range does not have', () => {
    const loadBalancerIPs = [{ ip: '10.96.9.9', ipMode: 'VIP' as const }];
    const inside = rowsOf([service({ type: 'LoadBalancer', loadBalancerIPs })], [BOTH]);
    assert.match(brief(ask(inside, '10.96.9.9:80')), /^REACHES /);
    assert.equal(brief(ask(inside, '10.96.9.9:81')), 'PORT_NOT_DECLARED drop');
    const scoped = placeWith({ knowsEveryService: false });
    assert.equal(brief(ask(inside, '10.96.9.9:81', { place: scoped })), 'PORT_NOT_DECLARED pass');
  });

  it('lets pass what no rule is for', () => {
    assert.equal(brief(ask(rows, '198.18.0.1:81')), 'PORT_NOT_DECLARED pass');
    assert.equal(brief(ask(rows, '192.0.2.7:80')), 'NO_SUCH_ADDRESS pass');
    const scoped = placeWith({ knowsEveryService: false });
    assert.equal(brief(ask(rows, '10.96.7.7:80', { place: scoped })), 'NO_SUCH_ADDRESS pass');
  });

  it('lets pass what the rules of the mode leave alone', () => {
    const place = placeWith({}, { leavesAlone: ALL_LEFT });
    assert.equal(brief(ask(rows, '10.96.0.1:81', { place })), 'PORT_NOT_DECLARED pass');
    assert.equal(brief(ask(rows, '10.96.7.7:80', { place })), 'NO_SUCH_ADDRESS pass');
    const empty = rowsOf([EDGE]);
    const [passed, rejected] = ['REFUSED_NO_ENDPOINTS pass', 'REFUSED_NO_ENDPOINTS reject'];
    assert.equal(brief(ask(empty, '198.18.0.1:80', { place, from: 'host' })), passed);
    assert.equal(brief(ask(empty, '198.18.0.1:80', { place })), rejected);
    assert.equal(brief(ask(empty, '10.96.0.1:80', { place, from: 'host' })), rejected);
    assert.equal(brief(ask(empty, '172.30.1.1:30080', { place, from: 'host' })), rejected);
    const unlisted = { from: '192.0.2.1' };
    assert.equal(brief(ask(empty, '198.18.0.2:80', { place, ...unlisted })), rejected);
    const dropped = 'DROPPED_SOURCE_RANGE drop';
    assert.equal(brief(ask(empty, '198.18.0.2:80', unlisted)), dropped);
    assert.equal(brief(ask(rows, '198.18.0.2:80', { place, ...unlisted })), dropped);
  });

  it('serves only the node itself where no interface of clients is named', () => {
    const place = placeWith({ clientInterfaces: [] });
    assert.equal(brief(ask(rows, '10.96.0.1:80', { place })), 'NOT_A_CLIENT pass');
    assert.match(brief(ask(rows, '10.96.0.1:80', { place, from: 'host' })), /^REACHES /);
    assert.equal(brief(ask(rows, '10.96.0.1:81', { place })), 'PORT_NOT_DECLARED pass');
    assert.equal(brief(ask(rows, '10.96.7.7:80', { place })), 'NO_SUCH_ADDRESS pass');
    const ofHost = { place, from: 'host' };
    assert.equal(brief(ask(rows, '10.96.0.1:81', ofHost)), 'PORT_NOT_DECLARED reject');
    assert.equal(brief(ask(rows, '10.96.7.7:80', ofHost)), 'NO_SUCH_ADDRESS drop');
  });

  it('finds the Service that has an address which another one claims too', () => {
    const younger = service({
      name: 'late',
      createdAtSeconds: 200,
      clusterIPs: ['10.96.0.2'],
      externalIPs: ['198.18.0.1'],
    });
    const both = rowsOf([EDGE, younger], [BOTH]);
    const found = ask(both, '198.18.0.1:80');
    assert.ok(found.code === 'WOULD_REACH');
    assert.equal(found.row.id.service, 'web');
  });

  it('reports an external IP that is not served', () => {
    const taking = service({ clusterIPs: ['10.96.0.2'], externalIPs: ['10.96.5.5'] });
    const table = new ForwardingTable(view({ serviceRanges: ['10.96.0.0/16'] }));
    table.putService(taking);
    assert.equal(brief(ask(table.rows(), '10.96.5.5:80')), 'NOT_SERVED drop');
    const noRanges = placeWith({ serviceRanges: [] });
    const passed = ask(table.rows(), '10.96.5.5:80', { place: noRanges });
    assert.equal(brief(passed), 'NOT_SERVED pass');
  });
});

describe('predict(), node ports', () => {
  const rows = rowsOf([EDGE], [BOTH]);
  const all = { nodePortAddresses: { IPv4: 'all', IPv6: 'all' } } as const;

  it('are served at the addresses that are named, and at no other', () => {
    const place = placeWith({}, { machineAddresses: ['172.30.1.1', '10.1.0.254'] });
    assert.equal(brief(ask(rows, '10.1.0.254:30080', { place })), 'NODE_PORT_NOT_HERE pass');
    assert.equal(brief(ask(rows, '127.0.0.1:30080', { from: 'host' })), 'NODE_PORT_NOT_HERE pass');
    const elsewhereHas = ask(rows, '172.30.1.2:30080');
    assert.ok(elsewhereHas.code === 'NO_SUCH_ADDRESS');
    assert.equal(elsewhereHas.nodePort?.row.id.service, 'web');
  });

  it('are rejected at every own address where the mode looks at none before it rejects', () => {
    const place = placeWith(
      {},
      { leavesAlone: ALL_LEFT, machineAddresses: ['172.30.1.1', '10.1.0.254'] },
    );
    const elsewhereAt = (asked: typeof rows, from: string) =>
      brief(ask(asked, '10.1.0.254:30080', { place, from }));
    for (const from of ['pod', 'host', 'outside']) {
      assert.equal(elsewhereAt(rowsOf([EDGE]), from), 'REFUSED_NO_ENDPOINTS reject');
      const dropped = 'DROPPED_NO_LOCAL_ENDPOINTS drop';
      assert.equal(elsewhereAt(rowsOf([EDGE], [AWAY]), from), dropped);
      assert.equal(elsewhereAt(rows, from), 'NODE_PORT_NOT_HERE pass');
    }
  });

  it('are served at every own address where all are', () => {
    const place = placeWith(all, { machineAddresses: ['10.1.0.254'] });
    assert.match(brief(ask(rows, '10.1.0.254:30080', { place })), /^REACHES cluster/);
    assert.match(brief(ask(rows, '172.30.1.1:30080', { place })), /^REACHES cluster/);
    const atLoopback = ask(rows, '127.0.0.1:30080', { place, from: 'host' });
    assert.equal(brief(atLoopback), 'NODE_PORT_NOT_HERE pass');
  });

  it('are served at loopback by rules, or for TCP by the relay', () => {
    const byRules = placeWith({ ...all, nodePortsOnLocalhost: true });
    const from = 'host';
    const masqueraded = 'REACHES cluster masquerade 10.1.0.5,10.1.9.5';
    assert.equal(brief(ask(rows, '127.0.0.1:30080', { place: byRules, from })), masqueraded);
    const relays = placeWith({ relayedLocalhost: ['IPv4'] });
    const relayed = ask(rows, '127.0.0.1:30080', { place: relays, from });
    assert.equal(brief(relayed), 'REACHES local masquerade 10.1.0.5');
    assert.ok(relayed.code === 'WOULD_REACH' && relayed.relayed);
    const away = rowsOf([EDGE], [AWAY]);
    const rejected = 'REFUSED_NO_ENDPOINTS reject';
    assert.equal(brief(ask(away, '127.0.0.1:30080', { place: relays, from })), rejected);
  });
});
