import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostSocket } from './host-ports.ts';
import type { NodeView } from './model.ts';
import { notServedText } from './not-served-text.ts';
import { ForwardingTable } from './table.ts';
import { endpoint, service, slice, view } from './testing/example-objects.ts';

const SHARED = '198.51.100.7';
const NODE_IP = '172.30.1.1';
const RANGES = { serviceRanges: ['10.96.0.0/16', 'fd00:96::/108'] };
const SSH: HostSocket = { family: 'IPv4', protocol: 'TCP', address: '', port: 22 };

type More = Parameters<typeof service>[0];

const cluster = (name: string, more: More = {}) =>
  service({ name, createdAtSeconds: 20, clusterIPs: ['10.96.0.1'], ...more });
const balanced = (name: string, ip: string, more: More = {}) =>
  cluster(name, {
    type: 'LoadBalancer',
    clusterIPs: ['10.96.0.2'],
    loadBalancerIPs: [{ ip, ipMode: 'VIP' }],
    ...more,
  });
const external = (name: string, ip: string, more: More = {}) =>
  cluster(name, { clusterIPs: ['10.96.0.3'], externalIPs: [ip], createdAtSeconds: 10, ...more });
const port = (number: number, nodePort = 0) => ({
  ports: [{ name: '', protocol: 'TCP', port: number, nodePort }],
});

function table(more: Partial<NodeView> = {}): ForwardingTable {
  return new ForwardingTable(view({ ...RANGES, ...more }));
}

/** The addresses of a Service that are not served, as `kind: why`. */
function notServed(table: ForwardingTable, name: string): string[] {
  return table
    .ofService(`ns/${name}`)
    .flatMap((row) => row.frontends)
    .flatMap((each) => (each.notServed ? `${each.kind}: ${notServedText(each.notServed)}` : []));
}

describe('an address that two Services claim', () => {
  it('goes to the cluster IP, even if the external IP is older', () => {
    const rows = table({ serviceRanges: [] });
    rows.putService(external('thief', '10.96.0.1'));
    rows.putService(cluster('web'));
    assert.deepEqual(notServed(rows, 'web'), []);
    assert.deepEqual(notServed(rows, 'thief'), [
      'external-ip: ns/web already has this address and port',
    ]);
  });

  it('goes to the cluster IP, even if the load balancer is older', () => {
    const rows = table();
    rows.putService(balanced('thief', '10.96.0.1', { createdAtSeconds: 1 }));
    rows.putService(cluster('web'));
    assert.deepEqual(notServed(rows, 'web'), []);
    assert.deepEqual(notServed(rows, 'thief'), [
      'load-balancer-ip: ns/web already has this address and port',
    ]);
  });

  it('goes to the load balancer, even if the external IP is older', () => {
    const rows = table();
    rows.putService(external('thief', SHARED));
    rows.putService(balanced('shop', SHARED));
    assert.deepEqual(notServed(rows, 'shop'), []);
    assert.deepEqual(notServed(rows, 'thief'), [
      'external-ip: ns/shop already has this address and port',
    ]);
    rows.takeChanges();
    rows.deleteService('ns/shop');
    assert.deepEqual(notServed(rows, 'thief'), []);
    assert.ok(rows.takeChanges().some(({ key }) => key === 'ns/thief/TCP/IPv4'));
  });

  it('goes to the older of two of the same kind', () => {
    const rows = table();
    rows.putService(external('old', SHARED, { createdAtSeconds: 1 }));
    rows.putService(external('young', SHARED, { clusterIPs: ['10.96.0.4'] }));
    assert.deepEqual(notServed(rows, 'old'), []);
    assert.deepEqual(notServed(rows, 'young'), [
      'external-ip: ns/old already has this address and port',
    ]);
  });

  it('goes to the older of any kind with the rules of kube-proxy', () => {
    const rows = table({ addressRules: 'kube-proxy' });
    rows.putService(external('thief', '10.96.0.1'));
    rows.putService(cluster('web'));
    assert.deepEqual(notServed(rows, 'thief'), []);
    assert.deepEqual(notServed(rows, 'web'), [
      'cluster-ip: ns/thief already has this address and port',
    ]);
  });
});

describe('an external IP in a Service range', () => {
  it('is not served, unless it is the cluster IP of the Service itself', () => {
    const rows = table();
    rows.putService(external('thief', '10.96.7.7'));
    rows.putService(external('six', 'fd00:96::77', { clusterIPs: ['fd00:96::6'] }));
    rows.putService(external('own', '10.96.0.9', { clusterIPs: ['10.96.0.9'] }));
    assert.deepEqual(notServed(rows, 'thief'), [
      'external-ip: it is in the Service CIDR 10.96.0.0/16',
    ]);
    assert.deepEqual(notServed(rows, 'six'), [
      'external-ip: it is in the Service CIDR fd00:96::/108',
    ]);
    assert.deepEqual(notServed(rows, 'own'), []);
  });

  it('is not served on a port that the Service with this cluster IP does not have', () => {
    const rows = table();
    rows.putService(cluster('web'));
    rows.putService(external('thief', '10.96.0.1', port(443)));
    assert.equal(notServed(rows, 'thief').length, 1);
  });

  it('is served while the ranges are not known, and until they are', () => {
    const rows = table({ serviceRanges: [] });
    rows.putService(external('thief', '10.96.7.7'));
    assert.deepEqual(notServed(rows, 'thief'), []);
    rows.takeChanges();
    rows.setView(view(RANGES));
    assert.equal(notServed(rows, 'thief').length, 1);
    assert.deepEqual(
      rows.takeChanges().map(({ key }) => key),
      ['ns/thief/TCP/IPv4'],
    );
  });

  it('is served with the rules of kube-proxy', () => {
    const rows = table({ addressRules: 'kube-proxy' });
    rows.putService(external('thief', '10.96.7.7'));
    assert.deepEqual(notServed(rows, 'thief'), []);
  });
});

describe('an external IP of the machine', () => {
  const addresses = [NODE_IP];

  it('is served, but not on a port that a process holds', () => {
    const rows = table();
    rows.setHost({ addresses, sockets: [SSH] });
    rows.putService(external('bare-metal', NODE_IP));
    rows.putService(external('thief', NODE_IP, port(22)));
    assert.deepEqual(notServed(rows, 'bare-metal'), []);
    assert.deepEqual(notServed(rows, 'thief'), [
      'external-ip: a process on this machine listens on the port',
    ]);
  });

  it('is recognised however the Node object spells it', () => {
    const rows = table();
    const socket: HostSocket = { ...SSH, family: 'IPv6' };
    rows.setHost({ addresses: ['FD00:30:0::1'], sockets: [socket] });
    rows.putService(external('thief', 'fd00:30::1', { clusterIPs: ['fd00:96::3'], ...port(22) }));
    assert.equal(notServed(rows, 'thief').length, 1);
  });

  it('is matched by protocol, family and address of the socket', () => {
    const rows = table();
    const at = (address: string) => ({ ...SSH, address });
    const others: HostSocket[] = [
      { ...SSH, protocol: 'UDP' },
      { ...SSH, family: 'IPv6' },
      at('127.0.0.1'),
    ];
    rows.setHost({ addresses, sockets: others });
    rows.putService(external('web', NODE_IP, port(22)));
    assert.deepEqual(notServed(rows, 'web'), []);
    rows.setHost({ addresses, sockets: [...others, at(NODE_IP)] });
    assert.equal(notServed(rows, 'web').length, 1);
  });

  it('follows sockets and addresses as they come and go, and recomputes only affected Services', () => {
    const rows = table();
    rows.putService(external('web', NODE_IP, port(22)));
    rows.putService(external('shop', SHARED, { clusterIPs: ['10.96.0.5'], ...port(22) }));
    rows.putService(external('other', NODE_IP, { clusterIPs: ['10.96.0.6'], ...port(80) }));
    const changed = () => rows.takeChanges().map(({ key }) => key);
    changed();
    rows.setHost({ addresses: [], sockets: [SSH] });
    assert.deepEqual(changed(), []);
    rows.setHost({ addresses, sockets: [SSH] });
    assert.deepEqual(changed(), ['ns/web/TCP/IPv4']);
    assert.equal(notServed(rows, 'web').length, 1);
    rows.setHost({ addresses, sockets: [] });
    assert.deepEqual(changed(), ['ns/web/TCP/IPv4']);
    assert.deepEqual(notServed(rows, 'web'), []);
  });

  it('is not served on a port that is the node port of another Service', () => {
    const rows = table();
    rows.setHost({ addresses, sockets: [] });
    rows.putService(external('thief', NODE_IP, port(30080)));
    assert.deepEqual(notServed(rows, 'thief'), []);
    rows.putService(cluster('web', { type: 'NodePort', ...port(80, 30080) }));
    assert.deepEqual(notServed(rows, 'thief'), [
      'external-ip: ns/web already has this address and port',
    ]);
    assert.deepEqual(notServed(rows, 'web'), []);
    rows.deleteService('ns/web');
    assert.deepEqual(notServed(rows, 'thief'), []);
  });

  it('may have the number of its own node port, and the port of a Service at another address', () => {
    const rows = table();
    rows.setHost({ addresses: [NODE_IP, '172.30.2.1'], sockets: [] });
    const own = port(30080, 30080);
    rows.putService(external('own', NODE_IP, { type: 'NodePort', ...own }));
    rows.putService(external('one', NODE_IP, { clusterIPs: ['10.96.0.7'], ...port(81) }));
    rows.putService(external('two', '172.30.2.1', { clusterIPs: ['10.96.0.8'], ...port(81) }));
    for (const name of ['own', 'one', 'two']) assert.deepEqual(notServed(rows, name), []);
  });
});

describe('an external IP at which the API server listens', () => {
  const KUBERNETES = { namespace: 'default', name: 'kubernetes', clusterIPs: ['10.96.0.1'] };
  const slices = (...addresses: string[]) =>
    slice(
      addresses.map((each) => endpoint(each)),
      {
        namespace: 'default',
        name: 'kubernetes',
        service: 'kubernetes',
        ports: [{ name: 'https', protocol: 'TCP', port: 6443 }],
      },
    );

  it('is not served on its port, for any Service but its own', () => {
    const rows = table();
    rows.putService(external('thief', '192.0.2.1', port(6443)));
    rows.putService(external('web', '192.0.2.1', { clusterIPs: ['10.96.0.4'], ...port(443) }));
    rows.putService(service({ ...KUBERNETES, externalIPs: ['192.0.2.1'], ...port(443) }));
    rows.takeChanges();
    rows.putSlice(slices('192.0.2.1'));
    assert.deepEqual(notServed(rows, 'thief'), ['external-ip: it is an address of the API server']);
    assert.deepEqual(notServed(rows, 'web'), []);
    rows.putSlice(slices('192.0.2.2'));
    assert.deepEqual(notServed(rows, 'thief'), []);
  });
});

describe('an address that is not served', () => {
  it('is counted by reason and listed by Service, until the Service goes', () => {
    const rows = table();
    rows.setHost({ addresses: [NODE_IP], sockets: [SSH] });
    rows.putService(external('thief', NODE_IP, port(22)));
    rows.putService(
      external('b', '10.96.7.7', { clusterIPs: ['10.96.0.4'], externalIPs: ['10.96.7.7', SHARED] }),
    );
    rows.takeChanges();
    const { notServed: all } = rows;
    const none = {
      'other-service': 0,
      'service-range': 0,
      'outside-ranges': 0,
      'api-server': 0,
      'host-socket': 0,
    };
    assert.deepEqual(all.counts(), { ...none, 'service-range': 1, 'host-socket': 1 });
    const listed = all.first(10).map(({ row, frontend }) => [row.id.service, frontend.address]);
    assert.deepEqual(listed, [
      ['b', '10.96.7.7'],
      ['thief', NODE_IP],
    ]);
    assert.equal(all.first(1).length, 1);
    rows.deleteService('ns/b');
    rows.deleteService('ns/thief');
    rows.takeChanges();
    assert.deepEqual(all.counts(), none);
    assert.deepEqual(all.first(10), []);
  });

  it('is listed while another namespace has a thousand of them', () => {
    const rows = table();
    const externalIPs = Array.from(
      { length: 1_000 },
      (_, index) => `10.96.${8 + (index >> 8)}.${index & 0xff}`,
    );
    rows.putService(external('many', '', { namespace: 'a-loud', externalIPs }));
    rows.putService(external('web', '10.96.7.7', { clusterIPs: ['10.96.0.4'] }));
    rows.takeChanges();
    const listed = rows.notServed.first(32).map(({ row }) => row.id.namespace);
    assert.deepEqual(
      [listed.length, listed.filter((namespace) => namespace === 'ns').length],
      [32, 1],
    );
  });
});
