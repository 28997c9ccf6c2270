import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodDetection } from '../../forwarding/answer/place.ts';
import { ruleText } from '../shared/nft/nft-rule.ts';
import { type Class, TREATMENT_NUMBER, type Treatment } from './classes.ts';
import { handOverChains } from './hand-over.ts';
import { classChains } from './nftables-chains.ts';
import { partsOf } from './nftables-row.ts';
import { walkRow } from './nftables-walk.ts';
import { newRowNumbers } from './row-numbers.ts';
import { tableContent } from './table-content.ts';
import type { TableFacts } from './table-facts.ts';
import { FACTS, row } from './testing/nftables-rows.ts';

const HANDS_OVER: TableFacts = { ...FACTS, handsOver: true };
const LISTS = [
  { size: 0, stickySeconds: 0 },
  { size: 3, stickySeconds: 0 },
  { size: 0, stickySeconds: 600 },
] as const;

function firstRule(
  rowClass: Pick<Class, 'treatment' | 'size' | 'stickySeconds'>,
  where: Class['where'],
) {
  const listOf = rowClass.treatment === 'short' ? 'cluster' : 'own';
  const [rule] = classChains({ ...rowClass, where, listOf }, HANDS_OVER, 'ip').at(-1)?.rules ?? [];
  return rule ? ruleText(rule) : '';
}

describe('hand-over to the forwarder', () => {
  it('comes first in every class that packets reach by their destination', () => {
    for (const treatment of Object.keys(TREATMENT_NUMBER) as Treatment[]) {
      for (const list of LISTS) {
        const isReached = !['pick', 'choose', 'short'].includes(treatment);
        const hasNoList = list.size === 0 && list.stickySeconds === 0;
        if (hasNoList && !treatment.startsWith('local')) continue;
        const rules = (['service', 'nodeport'] as const).map((where) =>
          firstRule({ treatment, ...list }, where),
        );
        const chain = hasNoList ? 'hand-over/inside' : 'hand-over';
        for (const rule of rules) {
          if (isReached) assert.equal(rule, `jump ${chain}`, treatment);
          else assert.ok(!rule.includes('hand-over'), `${treatment}: ${rule}`);
        }
      }
    }
  });

  const texts = (by: PodDetection | undefined) =>
    handOverChains(by, 'ip').map(({ rules }) => rules.map(ruleText));
  const own = 'socket transparent 1 return comment "of the forwarder itself"';
  const kept = [
    'ip daddr . meta l4proto . th dport @kept-services meta l4proto @not-handed-over return comment "no room in the forwarder"',
    'fib daddr type local meta l4proto . th dport @kept-nodeports meta l4proto @not-handed-over return comment "no room in the forwarder"',
  ];
  const host = 'fib saddr type local';
  const count = 'meta l4proto @not-handed-over return';

  it('asks for pods, then for the node, then takes all others', () => {
    const pod = 'iifname "veth*"';
    assert.deepEqual(texts({ by: 'interface-prefix', prefix: 'veth' }), [
      [
        own,
        ...kept,
        `${pod} dnat ip to meta l4proto map @forwarder-pod`,
        `${host} dnat ip to meta l4proto map @forwarder-host`,
        'dnat ip to meta l4proto map @forwarder-outside',
        count,
      ],
      [
        own,
        ...kept,
        `${pod} dnat ip to meta l4proto map @forwarder-pod`,
        `${host} dnat ip to meta l4proto map @forwarder-host`,
        `${pod} ${count}`,
        `${host} ${count}`,
      ],
    ]);
  });

  it('leaves pods of a range to the kernel where only those of this node may be served', () => {
    const [all, inside] = texts({ by: 'cidr', cidr: '10.128.0.0/9' });
    assert.equal(all?.[3], 'ip saddr 10.128.0.0/9 dnat ip to meta l4proto map @forwarder-pod');
    assert.deepEqual(inside, [
      own,
      ...kept,
      `${host} dnat ip to meta l4proto map @forwarder-host`,
      `${host} ${count}`,
    ]);
  });

  it('treats pods that cannot be detected as others', () => {
    assert.deepEqual(texts(undefined), [
      [
        own,
        ...kept,
        `${host} dnat ip to meta l4proto map @forwarder-host`,
        'dnat ip to meta l4proto map @forwarder-outside',
        count,
      ],
      [own, ...kept, `${host} dnat ip to meta l4proto map @forwarder-host`, `${host} ${count}`],
    ]);
  });

  it('is on the way of TCP alone', () => {
    for (const protocol of ['TCP', 'UDP'] as const) {
      const rows = [row({ protocol })];
      const numbers = newRowNumbers();
      for (const each of rows) partsOf(each, numbers);
      const content = tableContent({ facts: HANDS_OVER, rows }, 'ip');
      const paths = rows
        .flatMap((each) => walkRow(each, content, numbers))
        .map(({ visits }) => visits.map(({ chain }) => chain.name));
      for (const path of paths) assert.equal(path.includes('hand-over'), protocol === 'TCP');
    }
  });
});
