import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ForwardingTable } from './table.ts';
import {
  elsewhere,
  endpoint,
  service,
  slice,
  TERMINATING,
  view,
} from './testing/example-objects.ts';

const KEY = 'ns/web/TCP/IPv4';
const EXTERNAL = { externalIPs: ['198.18.0.1'] };

function table(): ForwardingTable {
  return new ForwardingTable(view());
}

function addresses(rows: ForwardingTable, key = KEY): string[] | undefined {
  return rows.get(key)?.clusterEndpoints.map((e) => `${e.address}:${e.port}`);
}

function lostTo(rows: ForwardingTable, name: string): (string | undefined)[] {
  const frontends = rows.ofService(`ns/${name}`).flatMap((row) => row.frontends);
  return frontends.map(({ notServed }) =>
    notServed?.reason === 'other-service' ? notServed.service : undefined,
  );
}

describe('ForwardingTable', () => {
  it('joins a Service and its slices, whichever comes first', () => {
    const first = table();
    first.putService(service());
    first.putSlice(slice([endpoint('10.0.0.1')]));
    const second = table();
    second.putSlice(slice([endpoint('10.0.0.1')]));
    second.putService(service());
    assert.deepEqual(addresses(first), ['10.0.0.1:8080']);
    assert.deepEqual(first.get(KEY), second.get(KEY));
  });

  it('follows a label that leaves a Service to packets, whatever its other fields', () => {
    const of = table();
    of.putSlice(slice([endpoint('10.0.0.1')]));
    of.putService(service());
    of.takeChanges();
    const before = of.get(KEY);
    of.putService(service({ labels: { ebpf: 'off' } }));
    assert.deepEqual(of.takeChanges().find(({ key }) => key === KEY)?.after, {
      ...before,
      onlyPackets: true,
    });
    of.putSlice(slice([endpoint('10.0.0.1'), endpoint('10.0.0.2')]));
    assert.equal(of.get(KEY)?.onlyPackets, true);
    of.takeChanges();
    of.putService(service({ labels: { ebpf: 'on' } }));
    assert.deepEqual(
      of.takeChanges().map(({ after }) => after?.onlyPackets),
      [undefined, undefined],
    );
  });

  it('has another version of its frontends when one comes, goes or changes', () => {
    const of = table();
    let last = of.contents.frontendsVersion;
    const isAnother = (): boolean => {
      of.takeChanges();
      const before = last;
      last = of.contents.frontendsVersion;
      return last !== before;
    };
    of.putService(service());
    assert.ok(isAnother(), 'a Service came');
    of.putSlice(slice([endpoint('10.0.0.1')]));
    assert.ok(isAnother(), 'its first endpoint: connections are no longer rejected');
    of.putSlice(slice([endpoint('10.0.0.2'), endpoint('10.0.0.3')]));
    assert.ok(!isAnother(), 'other endpoints');
    of.putService(service(EXTERNAL));
    assert.ok(isAnother(), 'one address more');
    of.deleteService('ns/web');
    assert.ok(isAnother(), 'the Service is gone');
    of.putService(service());
    assert.notEqual(of.contents.frontendsVersion, last, 'at once, whoever takes the changes');
  });

  it('lists the names of Services in order, whatever was added or deleted since', () => {
    const of = table();
    const add = (name: string) => of.putService(service({ name, clusterIPs: ['10.96.0.1'] }));
    for (const name of ['m', 'c', 'x']) add(name);
    const first = of.serviceNames();
    assert.deepEqual(first, ['ns/c', 'ns/m', 'ns/x']);
    assert.equal(of.serviceNames(), first);
    add('a');
    of.deleteService('ns/m');
    add('z');
    assert.deepEqual(of.serviceNames(), ['ns/a', 'ns/c', 'ns/x', 'ns/z']);
    add('m');
    assert.deepEqual(of.serviceNames(), ['ns/a', 'ns/c', 'ns/m', 'ns/x', 'ns/z']);
    assert.deepEqual(first, ['ns/c', 'ns/m', 'ns/x']);
  });

  it('leaves Services with a named cluster IP to packets', () => {
    const of = table();
    of.putService(service({ name: 'dns', clusterIPs: ['10.96.0.10'] }));
    of.putService(service({ name: 'web', clusterIPs: ['10.96.0.1'] }));
    const left = () =>
      of.serviceNames().filter((name) => of.ofService(name).some((row) => row.onlyPackets));
    assert.deepEqual(left(), []);
    of.setView(view({ leftToPackets: ['10.96.0.10'] }));
    assert.deepEqual(left(), ['ns/dns']);
  });

  it('follows the label of a namespace for Services that have none of their own', () => {
    const of = table();
    of.putNamespace({ name: 'early', ebpf: 'off' });
    for (const [namespace, ebpf] of [['ns'], ['ns', 'on'], ['early'], ['other']] as const) {
      const labels = ebpf === undefined ? {} : { ebpf };
      of.putService(service({ namespace, name: `web-${ebpf}`, clusterIPs: ['10.96.0.1'], labels }));
    }
    const left = () =>
      of.serviceNames().filter((name) => of.ofService(name).some((row) => row.onlyPackets));
    assert.deepEqual(left(), ['early/web-undefined']);
    of.takeChanges();
    of.putNamespace({ name: 'ns', ebpf: 'off' });
    assert.equal(of.hasChanges, true);
    assert.deepEqual(
      of.takeChanges().map(({ key }) => key),
      ['ns/web-undefined/TCP/IPv4'],
    );
    assert.deepEqual(left(), ['early/web-undefined', 'ns/web-undefined']);
    of.deleteNamespace('early');
    of.putNamespace({ name: 'ns' });
    assert.deepEqual(left(), []);
  });

  it('gives current rows, and still reports the changes afterwards', () => {
    const first = table();
    first.putService(service());
    first.putSlice(slice([endpoint('10.0.0.1')]));
    const all = first.ofService('ns/web');
    assert.deepEqual(
      first.takeChanges().map(({ after }) => after),
      all,
    );
    first.deleteService('ns/web');
    assert.deepEqual(first.ofService('ns/web'), []);
  });

  it('reports a change of a slice for its family only, and once', () => {
    const rows = table();
    rows.putService(service());
    assert.deepEqual(
      rows.takeChanges().map((c) => c.key),
      [KEY, 'ns/web/TCP/IPv6'],
    );
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    const [change, ...more] = rows.takeChanges();
    assert.equal(change?.key, KEY);
    assert.deepEqual(change?.before?.clusterEndpoints, []);
    assert.equal(change?.after?.clusterEndpoints.length, 1);
    assert.deepEqual(more, []);
    assert.deepEqual(rows.takeChanges(), []);
  });

  it('reports no change that was undone or has no effect', () => {
    const rows = table();
    rows.putService(service());
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    rows.takeChanges();
    rows.putSlice(slice([]));
    rows.putSlice(slice([endpoint('10.0.0.1')], { triggeredAtMs: 5 }));
    assert.deepEqual(rows.takeChanges(), []);
  });

  it('reports nothing for an object that is deleted and created again', () => {
    const rows = table();
    rows.putService(service());
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    rows.takeChanges();
    rows.deleteSlice('ns/web-1');
    rows.deleteService('ns/web');
    assert.deepEqual(rows.ofService('ns/web'), []);
    rows.putService(service());
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    assert.deepEqual(rows.takeChanges(), []);
  });

  it('follows a slice that is recreated in the other family under its old name', () => {
    const rows = table();
    rows.putService(service());
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    rows.takeChanges();
    rows.putSlice(slice([endpoint('fd00::1')], { addressType: 'IPv6' }));
    assert.deepEqual(addresses(rows), []);
    assert.deepEqual(addresses(rows, 'ns/web/TCP/IPv6'), ['fd00::1:8080']);
    assert.equal(rows.takeChanges().length, 2);
  });

  it('reports each port that is added, removed or kept when a Service gets other ports', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name, index) => ({
      name,
      protocol: 'TCP',
      port: 80 + index,
      nodePort: 0,
    }));
    assert.ok(a && b && c);
    const rows = table();
    const clusterIPs = ['10.96.0.1'];
    rows.putService(service({ clusterIPs, ports: [a, b] }));
    rows.takeChanges();
    rows.putService(service({ clusterIPs, ports: [b, c] }));
    assert.deepEqual(
      rows.takeChanges().map(({ key, before, after }) => [key, before?.id.port, after?.id.port]),
      [
        ['ns/web:a/TCP/IPv4', 'a', undefined],
        ['ns/web:c/TCP/IPv4', undefined, 'c'],
      ],
    );
  });

  it('keeps the state before the first of several changes', () => {
    const rows = table();
    rows.putService(service());
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    rows.takeChanges();
    rows.putSlice(slice([endpoint('10.0.0.2')]));
    rows.deleteService('ns/web');
    const gone = rows.takeChanges().find((change) => change.key === KEY);
    assert.equal(gone?.before?.clusterEndpoints[0]?.address, '10.0.0.1');
    assert.equal(gone?.after, undefined);
  });

  it('moves the endpoints of a slice whose label names another Service', () => {
    const rows = table();
    rows.putService(service());
    rows.putService(service({ name: 'other', clusterIPs: ['10.96.0.2'] }));
    rows.putSlice(slice([endpoint('10.0.0.1')]));
    rows.putSlice(slice([endpoint('10.0.0.1')], { service: 'other' }));
    assert.deepEqual(addresses(rows), []);
    assert.deepEqual(addresses(rows, 'ns/other/TCP/IPv4'), ['10.0.0.1:8080']);
    rows.putSlice(slice([endpoint('10.0.0.1')], { service: 'other', headless: true }));
    assert.deepEqual(addresses(rows, 'ns/other/TCP/IPv4'), []);
  });

  it('forgets the endpoints of a slice that comes back with addresses of another family', () => {
    const rows = table();
    rows.putService(service());
    for (const addressType of ['IPv6', 'FQDN'] as const) {
      rows.putSlice(slice([endpoint('10.0.0.1')]));
      assert.deepEqual(addresses(rows), ['10.0.0.1:8080']);
      rows.putSlice(slice([endpoint('fd00::1')], { addressType }));
      assert.deepEqual(addresses(rows), []);
    }
  });

  it('merges slices and counts a pod that reuses the address of a terminating one', () => {
    const rows = table();
    rows.putService(service());
    rows.putSlice(slice([endpoint('10.0.0.2'), endpoint('10.0.0.1')]));
    rows.putSlice(slice([endpoint('10.0.0.1', TERMINATING)], { name: 'web-2' }));
    rows.putSlice(
      slice([elsewhere('10.0.0.3')], {
        name: 'web-0',
        ports: [{ name: '', protocol: 'TCP', port: 9090 }],
      }),
    );
    assert.deepEqual(addresses(rows), ['10.0.0.1:8080', '10.0.0.2:8080', '10.0.0.3:9090']);
    rows.deleteSlice('ns/web-1');
    assert.deepEqual(addresses(rows), ['10.0.0.3:9090']);
  });

  it('gives an address that two Services claim to the older, and to the other when it is free', () => {
    const rows = table();
    rows.putService(
      service({ name: 'young', clusterIPs: ['10.96.0.3'], createdAtSeconds: 200, ...EXTERNAL }),
    );
    assert.deepEqual(lostTo(rows, 'young'), [undefined, undefined]);
    rows.putService(
      service({ name: 'old', clusterIPs: ['10.96.0.2'], createdAtSeconds: 100, ...EXTERNAL }),
    );
    assert.deepEqual(lostTo(rows, 'young'), [undefined, 'ns/old']);
    assert.deepEqual(lostTo(rows, 'old'), [undefined, undefined]);
    rows.takeChanges();
    rows.deleteService('ns/old');
    assert.deepEqual(lostTo(rows, 'young'), [undefined, undefined]);
    assert.ok(rows.takeChanges().some((change) => change.key === 'ns/young/TCP/IPv4'));
  });

  it('lets Services share an address on different ports', () => {
    const rows = table();
    rows.putService(service({ name: 'a', clusterIPs: ['10.96.0.2'], ...EXTERNAL }));
    const ports = [{ name: '', protocol: 'TCP', port: 81, nodePort: 0 }];
    rows.putService(service({ name: 'b', clusterIPs: ['10.96.0.3'], ports, ...EXTERNAL }));
    assert.deepEqual([...lostTo(rows, 'a'), ...lostTo(rows, 'b')].filter(Boolean), []);
  });

  it('follows the zone of the node', () => {
    const rows = table();
    rows.putService(service());
    rows.putSlice(
      slice([
        endpoint('10.0.0.1', { zoneHints: ['zone-a'] }),
        elsewhere('10.0.0.2', { zoneHints: ['zone-b'] }),
      ]),
    );
    assert.deepEqual(addresses(rows), ['10.0.0.1:8080']);
    rows.takeChanges();
    rows.setView(view({ zone: 'zone-b' }));
    assert.deepEqual(addresses(rows), ['10.0.0.2:8080']);
    assert.deepEqual(
      rows.takeChanges().map((c) => c.key),
      [KEY],
    );
  });
});
