import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { kernelMachine } from '../../../src/commands/cleanup/kernel-machine.ts';
import { enterOwnNetwork, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { FORWARDER_PART } from '../../../src/wings/userspace/forwarder-part.ts';
import {
  keepListenerRoutes,
  keepReturnRoutes,
} from '../../../src/wings/userspace/plane/forwarder-routes.ts';

const FOLDERS = { runFolder: '/nonexistent', pinFolder: '/nonexistent' };
const LEFT = [
  { what: 'routes', count: 4 },
  { what: 'routing rules', count: 2 },
];

beforeEach(async () => {
  enterOwnNetwork();
  await keepListenerRoutes();
  await keepReturnRoutes(0x2000);
});

function left(): string {
  const all = ['-4', '-6'].flatMap((family) => [
    run(['ip', family, 'route', 'show', 'table', 'all']),
    run(['ip', family, 'rule']),
  ]);
  return all.join('');
}

describe('cleanup of what a forwarder left', () => {
  it('removes its routes and rules, and counts them', async () => {
    const removed = await kernelMachine(FOLDERS).removePart(FORWARDER_PART);
    assert.deepEqual(removed?.holdings, LEFT);
    assert.doesNotMatch(left(), /\b11[89]\b/);
  });

  it('counts them in a dry run, and changes nothing', async () => {
    const before = left();
    const removed = await kernelMachine({ ...FOLDERS, dryRun: true }).removePart(FORWARDER_PART);
    assert.deepEqual(removed?.holdings, LEFT);
    assert.equal(left(), before);
  });
});
