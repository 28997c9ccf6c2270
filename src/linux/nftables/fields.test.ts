import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dataTypeOf, keyLength, keyText, typeOf } from './fields.ts';
import type { SetSpec } from './nft-objects.ts';
import { VERDICT_TYPE } from './nftables-protocol.ts';
import { setFlags, setUserdata } from './set-definition.ts';
import { CAPTURED_SETS } from './testing/captured-sets.ts';
import { exampleSets } from './testing/example-sets.ts';

function describeSet(set: SetSpec) {
  const { value } = set;
  const dataLength = value === 'verdict' ? 16 : value ? keyLength(value) : 0;
  return {
    name: set.name,
    flags: setFlags(set),
    keyType: dataTypeOf(set.key),
    keyLength: keyLength(set.key),
    dataType: value === 'verdict' ? VERDICT_TYPE : value ? dataTypeOf(value) : 0,
    dataLength,
    userdata: Buffer.from(setUserdata(set), 'latin1').toString('hex'),
  };
}

describe('fields of keys', () => {
  it('have the numbers, lengths and user data that nft gives them', () => {
    for (const family of ['ip', 'ip6'] as const) {
      assert.deepEqual(exampleSets(family).map(describeSet), CAPTURED_SETS[family]);
    }
  });

  it('are written as nft writes them', () => {
    const [, , , counted] = exampleSets('ip6');
    assert.ok(counted);
    assert.equal(keyText(counted.key), 'ip6 daddr . meta l4proto . th dport . numgen random mod 2');
  });

  it('have user data that fits the one byte of its length, in the longest key too', () => {
    for (const set of exampleSets('ip6')) assert.ok(typeOf(set.key).length < 256, set.name);
  });
});
