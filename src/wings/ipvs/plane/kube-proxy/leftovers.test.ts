import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualServerState } from '../../../../linux/ipvs/ipvs-model.ts';
import { outsideOf } from './leftovers.ts';

function at(address: string): VirtualServerState {
  const server = { protocol: 'TCP', address, port: 80, scheduler: 'rr' } as const;
  return { server: { ...server, schedulerFlags: [], persistenceSeconds: 0 }, destinations: [] };
}

test('leaves virtual servers in excluded CIDRs alone, in both families', () => {
  const servers = ['10.1.2.3', '10.96.0.1', 'fd00:1::1', 'fd00:96::1'].map(at);
  const left = outsideOf(['10.1.0.0/16', 'fd00:1::/64'], servers);
  assert.deepEqual(
    left.map(({ server }) => server.address),
    ['10.96.0.1', 'fd00:96::1'],
  );
  assert.equal(outsideOf([], servers).length, 4);
});
