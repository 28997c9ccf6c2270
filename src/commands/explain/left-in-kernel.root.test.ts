import assert from 'node:assert/strict';
import { it } from 'node:test';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import { findBasis } from '../basis/basis.ts';
import { leftInKernel } from './left-in-kernel.ts';

it('tells a kernel without rules of Fairlead from one with those of an earlier agent', async () => {
  enterOwnNetwork();
  const options = { runFolder: '/nonexistent' };
  const basis = await findBasis({ flags: new Map(), options });
  assert.deepEqual(await leftInKernel(basis), { is: 'nothing' });
  run(['nft', 'add table ip fairlead; add chain ip fairlead dispatch']);
  assert.deepEqual(await leftInKernel(basis), { is: 'rules' });
  const elsewhere = await findBasis({ flags: new Map(), options: { ...options, node: 'other' } });
  assert.equal(await leftInKernel(elsewhere), undefined);
});
