import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeFacts } from '../contract.ts';
import { ruleText } from '../shared/nft/nft-rule.ts';
import { fixedChains } from './nftables-chains.ts';
import { FACTS } from './testing/nftables-rows.ts';

function droppedRanges(facts: NodeFacts): readonly string[] {
  return fixedChains(facts, 'ip').flatMap(({ rules }) =>
    rules.flatMap((rule) => ruleText(rule).match(/(?<=^ip daddr )[0-9./]+(?= drop)/) ?? []),
  );
}

test('drops packets to unused Service addresses only if every Service is known', () => {
  assert.deepEqual([...new Set(droppedRanges(FACTS))], ['10.96.0.0/16']);
  assert.deepEqual(droppedRanges({ ...FACTS, knowsEveryService: false }), []);
});
