import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderedTables } from './render-iptables.ts';
import type { RuleText } from './rule.ts';
import { readRule, ruleSentence } from './sentences.ts';
import { SETTING, upstreamRows } from './testing/iptables-rows.ts';

const COMMENT = '-m comment --comment "t/web"';

describe('ruleSentence', () => {
  const sentences: readonly (readonly [string, string])[] = [
    [
      `-d 10.96.0.1/32 -p tcp ${COMMENT} -m tcp --dport 80 -j KUBE-SVC-A`,
      'if it is for 10.96.0.1, port 80/TCP: goes on in KUBE-SVC-A',
    ],
    [
      `-p udp ${COMMENT} -m udp --dport 30053 -j KUBE-EXT-A`,
      'if it is for port 30053/UDP: goes on in KUBE-EXT-A',
    ],
    [
      '-m comment --comment "t/web -> 10.1.0.1:80" -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-A',
      'if a random draw selects it (33.3 %): takes endpoint 10.1.0.1:80 and goes on in KUBE-SEP-A',
    ],
    [
      `-s 10.1.0.1/32 ${COMMENT} -j KUBE-MARK-MASQ`,
      'if it comes from 10.1.0.1: marks it for masquerading',
    ],
    [
      `-p tcp ${COMMENT} -m tcp -j DNAT --to-destination 10.1.0.1:80`,
      'if it is TCP: sends it to 10.1.0.1:80',
    ],
    [
      `-p tcp ${COMMENT} -m addrtype --dst-type LOCAL -m tcp --dport 30080 -j DROP`,
      'if it is for an address of this node, port 30080/TCP: drops it without a reply',
    ],
    [
      `-p tcp ${COMMENT} -m recent --set --name KUBE-SEP-A --mask 255.255.255.255 --rsource -m tcp -j DNAT --to-destination 10.1.0.1:80`,
      'if it is TCP: records its client for session affinity and sends it to 10.1.0.1:80',
    ],
    [COMMENT, 'does nothing: the packet continues untranslated'],
  ];
  for (const [rule, sentence] of sentences) {
    it(`says: ${sentence}`, () => assert.equal(ruleSentence(rule as RuleText), sentence));
  }

  it('has a phrase for every part of every rule that is ever written', () => {
    const rules = (['IPv4', 'IPv6'] as const).flatMap((family) =>
      Object.values(renderedTables(upstreamRows(), SETTING, family)).flatMap((chains) =>
        [...chains.values()].flat(),
      ),
    );
    assert.ok(rules.length > 100);
    assert.deepEqual(
      rules.flatMap((rule) => readRule(rule).unknown),
      [],
    );
  });
});
