import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClusterError } from '../../cluster/cluster-error.ts';
import { unreadable } from './pod-of-cluster.ts';

const LOST = new ClusterError('CLUSTER_TIMEOUT', 'no answer within 10 s', {
  next: 'check the kubeconfig and firewalls',
});

it('blames a full conntrack table for a pod that cannot be read, and no firewall', () => {
  const error = unreadable('shop/cart', LOST, { entries: 97, limit: 100 });
  assert.equal(error.code, 'CONNTRACK_FULL');
  assert.match(error.message, /conntrack of this machine is full \(97 of 100 entries\)/);
  assert.match(error.next, /give the address of the pod/);
});

it('keeps the reason of the API server where conntrack has room, or an answer came', () => {
  const answered = new ClusterError('CLUSTER_ANSWER', 'forbidden', { next: 'ask', status: 403 });
  for (const error of [
    unreadable('shop/cart', LOST, { entries: 10, limit: 100 }),
    unreadable('shop/cart', LOST, undefined),
    unreadable('shop/cart', LOST, { entries: 10, limit: 0 }),
    unreadable('shop/cart', answered, { entries: 100, limit: 100 }),
  ]) {
    assert.match(error.message, /^cannot read pod shop\/cart with your credentials: /);
  }
});
