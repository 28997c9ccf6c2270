import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import { NEEDS_WINGS } from '../../wings/testing/needs-wings.ts';
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

  it(
    'removes the routing rules and routes of a pod network whose agent was killed',
    NEEDS_WINGS,
    async () => {
      ip('rule add priority 119 lookup 120 proto 120');
      run(['ip', '-6', 'rule', 'add', 'priority', '119', 'lookup', '120', 'proto', '120']);
      ip('route add local 10.244.1.5 dev lo table 120 proto 120 src 127.0.0.1');
      ip('route add local fd00:10:244::5 dev lo table 120 proto 120');
      ip('route add local 203.0.113.9 dev lo table 120');
      const told = 'the pod network (2 routing rules, 2 routes)';
      const before = podNetwork();
      const planned = await kernelMachine({ ...FOLDERS, dryRun: true }).removeRoutes();
      assert.equal(planned.at(-1), told);
      assert.equal(podNetwork(), before);
      assert.equal((await kernelMachine(FOLDERS).removeRoutes()).at(-1), told);
      assert.equal(podNetwork(), 'local 203.0.113.9 dev lo scope host');
    },
  );
});

function podNetwork(): string {
  const rules = run(['ip', 'rule']) + run(['ip', '-6', 'rule']);
  const ours = rules.split('\n').filter((line) => line.startsWith('119:'));
  const routes = ['-4', '-6'].map((family) => run(['ip', family, 'route', 'show', 'table', '120']));
  return [...ours, ...routes.map((text) => text.trim())].filter(Boolean).join('\n');
}
