import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTER, withoutCounts } from '../nftables/listed-expressions.ts';
import { ruleExpressions } from './rule-expressions.ts';

/** Each has one thing that is not known, or that is wrong. */
const NOT_KNOWN: readonly string[] = [
  '-s 10.1.0.300/32 -j RETURN',
  '-s fd00::1/128 -j RETURN',
  '-s 0.0.0.0/0 -j RETURN',
  '-i a-name-of-sixteen-letters -j RETURN',
  '-o eth0 -j RETURN',
  '-p icmp -j RETURN',
  '-p tcp -m tcp --dport 80:90 -j RETURN',
  '-p tcp -m tcp --dport 65536 -j RETURN',
  '-p tcp -m tcp --sport 80 -j RETURN',
  '-m limit --limit 1/sec -j RETURN',
  '-m constructor -j RETURN',
  `-m comment --comment "${'x'.repeat(256)}" -j RETURN`,
  '-m comment --comment "a \\"quote\\"" -j RETURN',
  '-m comment --comment "\u00e9" -j RETURN',
  '-m mark --mark 0x4000 -j RETURN',
  '-m conntrack --ctstate NEW,ODD -j RETURN',
  '-m addrtype --dst-type UNICAST -j RETURN',
  '-m statistic --mode nth --every 2 --packet 0 -j RETURN',
  '-m recent --rcheck --name A --mask 255.255.255.255 --rsource -j RETURN',
  '-j MARK --set-mark 0x1',
  '-j DNAT --to-destination 10.0.0.1-10.0.0.9',
  '-j DNAT --to-destination 10.0.0.1:99999',
  '-j REJECT --reject-with icmp-net-prohibited',
  '-j LOG --log-prefix "x "',
  '-g SOMEWHERE',
  '-j RETURN -m comment --comment "late"',
];

describe('an unsupported rule', () => {
  for (const rule of NOT_KNOWN) {
    it(`is left to the program: ${rule.slice(0, 60)}`, () => {
      assert.equal(ruleExpressions(rule, 'ip'), undefined);
    });
  }
});

describe('a rule', () => {
  it('passes the protocol to xtables modules', () => {
    assert.equal(ruleExpressions('-p udp -m udp -j RETURN', 'ip')?.protocol, 17);
    assert.equal(ruleExpressions('-j RETURN', 'ip')?.protocol, 0);
  });

  it('that has counted is found by its original expressions', () => {
    const { expressions = '' } = ruleExpressions('-d 10.0.0.0/8 -j RETURN', 'ip') ?? {};
    const at = expressions.indexOf(COUNTER) + COUNTER.length - 1;
    const counted = `${expressions.slice(0, at)}\u0007${expressions.slice(at + 1)}`;
    assert.notEqual(counted, expressions);
    assert.equal(withoutCounts(counted), expressions);
  });
});
