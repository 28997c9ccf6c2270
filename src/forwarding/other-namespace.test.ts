import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ForwardingTable } from './table.ts';
import { endpoint, service, slice, view } from './testing/example-objects.ts';

describe('a user of another namespace', () => {
  it('adds no endpoint to a Service with a slice that has its name as label', () => {
    const table = new ForwardingTable(view());
    table.putService(service({ namespace: 'victim' }));
    table.putSlice(slice([endpoint('10.0.0.1')], { namespace: 'victim' }));
    const before = table.ofService('victim/web');
    table.putSlice(slice([endpoint('10.0.0.66')], { namespace: 'attacker' }));
    table.putSlice(
      slice([endpoint('10.0.0.67')], { namespace: 'attacker', service: 'victim/web' }),
    );
    assert.deepEqual(table.ofService('victim/web'), before);
    const addresses = before.flatMap(({ clusterEndpoints }) => clusterEndpoints);
    assert.deepEqual([...new Set(addresses.map(({ address }) => address))], ['10.0.0.1']);
  });

  it('does not take an address from an older Service, even with a name that sorts first', () => {
    const shared = { externalIPs: ['198.18.0.1'], clusterIPs: ['10.96.0.1'] };
    const table = new ForwardingTable(view());
    table.putService(service({ namespace: 'victim', ...shared, createdAtSeconds: 100 }));
    const attacker = { namespace: 'a', name: 'a', ...shared, createdAtSeconds: 101 };
    table.putService(service(attacker));
    const lostBy = (name: string) =>
      table.ofService(name).flatMap(({ frontends }) => frontends.map(({ notServed }) => notServed));
    assert.deepEqual(lostBy('victim/web'), [undefined, undefined]);
    const lost = { reason: 'other-service', service: 'victim/web' };
    assert.deepEqual(lostBy('a/a'), [lost, lost]);
  });
});
