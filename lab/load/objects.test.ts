import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterIpOf, loadObjects } from './objects.ts';

describe('loadObjects()', () => {
  it('gives every Service an address record and slices of at most 100 endpoints', () => {
    const keys = [...loadObjects({ services: 2, endpointsPerService: 150 })].map(({ key }) => key);
    assert.deepEqual(keys, [
      '/registry/namespaces/load-0',
      '/registry/services/specs/load-0/svc-00000',
      '/registry/ipaddresses/10.97.0.0',
      '/registry/endpointslices/load-0/svc-00000-0',
      '/registry/endpointslices/load-0/svc-00000-1',
      '/registry/services/specs/load-0/svc-00001',
      '/registry/ipaddresses/10.97.0.1',
      '/registry/endpointslices/load-0/svc-00001-0',
      '/registry/endpointslices/load-0/svc-00001-1',
    ]);
  });

  it('repeats no key and no endpoint address at 50,000 Services of 5', () => {
    const keys = new Set<string>();
    const addresses = new Set<string>();
    let count = 0;
    for (const { key, value } of loadObjects({ services: 50_000, endpointsPerService: 5 })) {
      keys.add(key);
      count++;
      const { endpoints = [] } = value as { endpoints?: { addresses: string[] }[] };
      for (const endpoint of endpoints) addresses.add(endpoint.addresses[0] ?? '');
    }
    assert.equal(keys.size, count);
    assert.equal(addresses.size, 250_000);
  });

  it('stays inside the service range with its last address', () => {
    assert.equal(clusterIpOf(49_999), '10.97.195.79');
  });
});
