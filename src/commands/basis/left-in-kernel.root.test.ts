import assert from 'node:assert/strict';
import { it } from 'node:test';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import { findBasis } from './basis.ts';
import { leftInKernel } from './left-in-kernel.ts';

it('tells a kernel without rules of Fairlead from one with those of an earlier agent', async () => {
  enterOwnNetwork();
  const { objects, unread } = await leftInKernel({});
  assert.deepEqual({ objects, unread }, { objects: [], unread: [] });
  run(['nft', 'add table ip fairlead; add chain ip fairlead dispatch']);
  const after = await leftInKernel({});
  assert.match(after.objects.join(), /table/);
});

it('knows that this machine is without an agent, and not of another', async () => {
  const options = { runFolder: '/nonexistent' };
  const here = await findBasis({ flags: new Map(), options });
  assert.partialDeepStrictEqual(here, { by: 'source', missingAgent: 'absent' });
  const other = await findBasis({ flags: new Map(), options: { ...options, node: 'other' } });
  assert.ok(other.by === 'source' && other.missingAgent === undefined);
});
