import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import { kernelMachine } from './kernel-machine.ts';

const FOLDERS = { runFolder: '/nonexistent', pinFolder: '/nonexistent' };

beforeEach(() => {
  enterOwnNetwork();
  ip('route add 10.96.0.0/12 dev lo proto 118 metric 4294967295 mtu 1500');
  ip('route add fd00:96::/108 dev lo proto 118 metric 4294967295');
  ip('route add 203.0.113.0/24 dev lo');
});

function left(): string {
  return run(['ip', 'route']) + run(['ip', '-6', 'route', 'show', 'fd00:96::/108']);
}

describe('cleanup of routes', () => {
  it('removes those with the protocol number of Fairlead, and no others', async () => {
    const removed = await kernelMachine(FOLDERS).removeRoutes();
    assert.deepEqual(removed, ['10.96.0.0/12', 'fd00:96::/108']);
    assert.equal(left().trim(), '203.0.113.0/24 dev lo scope link');
  });

  it('lists them in a dry run, and changes nothing', async () => {
    const before = left();
    const removed = await kernelMachine({ ...FOLDERS, dryRun: true }).removeRoutes();
    assert.deepEqual(removed, ['10.96.0.0/12', 'fd00:96::/108']);
    assert.equal(left(), before);
  });
});
