import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dropCause } from './drop-cause.ts';
import type { DropFacts, DroppedPacket, DroppingRule } from './dropped-packet.ts';

const PACKET = {
  protocol: 6,
  source: '10.1.0.1',
  sourcePort: 40_001,
  destination: '10.1.3.17',
  destinationPort: 8080,
};
const ORIGINAL = { ...PACKET, destination: '10.96.0.10', destinationPort: 80 };

function dropped(change: Partial<DroppedPacket>): DroppedPacket {
  return {
    reason: 'NOT_SPECIFIED',
    function: undefined,
    networkNamespace: 1,
    device: 'eth0',
    packet: PACKET,
    original: ORIGINAL,
    ...change,
  };
}

function codeOf(
  change: Partial<DroppedPacket>,
  known: { rule?: DroppingRule; facts?: DropFacts } = {},
): string | undefined {
  return dropCause(dropped(change), known)?.code;
}

describe('the cause of a drop', () => {
  it('blames nothing of this node for a drop in another network namespace', () => {
    const drop = dropped({ reason: 'IP_RPFILTER' });
    const cause = dropCause(drop, { isElsewhere: true });
    assert.match(
      cause?.sentence ?? '',
      /^in another network namespace than this node's the packet/,
    );
    assert.match(cause?.next[0] ?? '', /^in that network namespace: /);
    const closed = dropped({ reason: 'NO_SOCKET' });
    assert.deepEqual(dropCause(closed, { isElsewhere: true }), dropCause(closed));
  });

  it('follows from the name of the reason', () => {
    const codes = ['IP_RPFILTER', 'NEIGH_FAILED', 'NO_SOCKET', 'PKT_TOO_BIG', 'XFRM_POLICY'].map(
      (reason) => codeOf({ reason }),
    );
    assert.deepEqual(codes, [
      'DROPPED_REVERSE_PATH',
      'NO_NEIGHBOUR',
      'ENDPOINT_REFUSES',
      'TOO_BIG',
      'DROPPED_BY_PROGRAM',
    ]);
  });

  it('follows from the function where the kernel names no reason', () => {
    assert.equal(codeOf({ reason: undefined, function: 'tcp_v4_rcv' }), 'ENDPOINT_REFUSES');
    assert.equal(codeOf({ reason: 'NOT_SPECIFIED', function: 'ip_error' }), 'NO_ROUTE');
    // Where the kernel has reasons, this is a reset for a connection that is being accepted.
    assert.equal(codeOf({ function: 'tcp_v4_rcv' }), 'DROPPED_BY_KERNEL');
  });

  it('names a reason that has no code of its own', () => {
    const cause = dropCause(dropped({ reason: 'IP_INHDR', function: 'ip_rcv_core' }));
    assert.equal(cause?.code, 'DROPPED_BY_KERNEL');
    assert.match(cause.sentence, /IP_INHDR in ip_rcv_core/);
  });

  it('is no cause where a healthy connection has such drops too', () => {
    assert.equal(codeOf({ reason: 'QUEUE_PURGE' }), undefined);
    assert.equal(codeOf({ reason: 'TCP_OLD_DATA' }), undefined);
  });

  it('is the rule that a trace names', () => {
    const rule = { family: 'inet', table: 'hardening', chain: 'forward', handle: '7' };
    const cause = dropCause(dropped({ reason: 'NETFILTER_DROP' }), { rule });
    assert.equal(cause?.code, 'DROPPED_BY_RULE');
    assert.match(cause.sentence, /handle 7 of inet hardening forward/);
    assert.deepEqual(cause.next, ['nft -a list chain inet hardening forward']);
  });

  it('is the policy of a chain where no rule of it decided', () => {
    const rule = { family: 'ip', table: 'filter', chain: 'FORWARD' };
    const cause = dropCause(dropped({ reason: 'NETFILTER_DROP' }), { rule });
    assert.match(cause?.sentence ?? '', /the policy of chain ip filter FORWARD/);
  });

  it('is a full conntrack table only where no rule dropped the packet', () => {
    const facts = { conntrack: { count: 64, max: 64, dropped: 3 } };
    const rule = { family: 'ip', table: 'filter', chain: 'FORWARD' };
    const drop = { reason: 'NETFILTER_DROP', function: 'nf_hook_slow' };
    assert.equal(codeOf(drop, { facts }), 'CONNTRACK_FULL');
    assert.equal(codeOf(drop, { facts, rule }), 'DROPPED_BY_RULE');
    const room = { conntrack: { count: 64, max: 64, dropped: 0 } };
    assert.equal(codeOf(drop, { facts: room }), 'DROPPED_BY_RULE');
  });

  it('is the machine that does not forward, and not the route it has no use for', () => {
    const facts = { isForwarding: false };
    assert.equal(codeOf({ reason: 'IP_INNOROUTES' }, { facts }), 'NOT_FORWARDED');
    assert.equal(codeOf({ reason: 'IP_INADDRERRORS' }), 'NOT_FORWARDED');
    assert.equal(codeOf({ function: 'ip6_forward' }, { facts }), 'NOT_FORWARDED');
    const forwards = { isForwarding: true };
    assert.equal(codeOf({ function: 'ip6_forward' }, { facts: forwards }), 'DROPPED_BY_KERNEL');
  });
});
