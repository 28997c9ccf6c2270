import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MESSAGE } from '../nftables/nftables-protocol.ts';
import { decodeTrace } from './decode-trace.ts';
import { DROP, GOTO, POLICY, RULE_IPV4, RULE_IPV6 } from './testing/captured-traces.ts';

const decode = (body: Buffer, type: number = MESSAGE.trace) =>
  decodeTrace({ type, flags: 0, sequence: 0, portId: 0, body });

it('reads a rule that matched, and the packet as it was there', () => {
  assert.deepEqual(decode(RULE_IPV4), {
    packetId: 0xb84e7235,
    kind: 'rule',
    family: 'ip',
    table: 'fairlead-probe',
    chain: 'begins',
    handle: 4n,
    verdict: 'continue',
    packet: {
      source: '127.0.0.1',
      sourcePort: 48_929,
      destination: '127.0.0.1',
      destinationPort: 80,
      protocol: 6,
      tcpFlags: ['SYN'],
    },
    outInterface: 1,
  });
  assert.partialDeepStrictEqual(decode(RULE_IPV6), {
    family: 'ip6',
    packet: { source: '::1', sourcePort: 33_405, destination: '::1', tcpFlags: ['SYN'] },
  });
});

it('reads policies, gotos and drops', () => {
  assert.partialDeepStrictEqual(decode(POLICY), { kind: 'policy', verdict: 'accept' });
  assert.partialDeepStrictEqual(decode(GOTO), { family: 'inet', verdict: 'goto', target: 'deny' });
  assert.partialDeepStrictEqual(decode(DROP), { chain: 'deny', handle: 3n, verdict: 'drop' });
});

it('reads nothing of other messages, and of any part of one fails in no way', () => {
  assert.equal(decode(RULE_IPV4, MESSAGE.newGeneration), undefined);
  for (let length = 0; length < RULE_IPV6.length; length++) decode(RULE_IPV6.subarray(0, length));
});
