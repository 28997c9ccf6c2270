import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts } from '../contract.ts';
import { ruleSentence } from '../shared/nft/nft-rule.ts';
import { walkRow } from './nftables-walk.ts';
import { newRowNumbers } from './row-numbers.ts';
import { tableContent } from './table-content.ts';
import { exampleRows, FACTS, type RowRecipe, row } from './testing/nftables-rows.ts';

/** The chains that packets to the cluster IP, the load balancer and the node port meet. */
function pathsOf(more: Partial<RowRecipe>, facts: Partial<NodeFacts> = {}): string[] {
  const rows = [row(more)];
  const content = tableContent({ facts: { ...FACTS, ...facts }, rows }, 'ip');
  return rows.flatMap((each) =>
    walkRow(each, content, newRowNumbers()).map(({ visits }) =>
      visits.map(({ chain }) => chain.name).join(' '),
    ),
  );
}

describe('the way of a packet', () => {
  it('leads to the endpoints', () => {
    const end = 'nat-postrouting masquerading';
    assert.deepEqual(pathsOf({}), [
      `nat-prerouting dispatch cluster/3 pick/3 ${end}`,
      `nat-prerouting dispatch masquerade/3 pick/3 ${end}`,
      `nat-prerouting dispatch nodeport/masquerade/3 nodeport/pick/3 ${end}`,
    ]);
  });

  it('begins in output where only own sockets are served', () => {
    const end = 'nat-postrouting masquerading';
    assert.deepEqual(pathsOf({}, { clientInterfaces: [] }), [
      `nat-output dispatch cluster/3 pick/3 ${end}`,
      `nat-output dispatch masquerade/3 pick/3 ${end}`,
      `nat-output dispatch nodeport/masquerade/3 nodeport/pick/3 ${end}`,
    ]);
    assert.deepEqual(pathsOf({}, { clientInterfaces: ['docker0'] }), pathsOf({}));
  });

  it('passes the source ranges, and the short circuit of a local policy', () => {
    const [, balancer] = pathsOf({ shape: 'local', allowedSources: ['10.0.0.0/8'] });
    assert.equal(
      balancer,
      'filter-prerouting firewall-check source-check nat-prerouting dispatch local/1 short/4 pick/1 nat-postrouting masquerading',
    );
  });

  it('ends where there is no endpoint', () => {
    assert.deepEqual(pathsOf({ shape: 'no-endpoints' }), [
      'filter-input service-check refuse filter-forward',
      'filter-input service-check refuse filter-forward',
      'filter-input nodeport-check refuse',
    ]);
  });
});

describe('the sentences', () => {
  it('cover every rule', () => {
    for (const family of ['ip', 'ip6'] as const) {
      for (const { name, rules } of tableContent({ facts: FACTS, rows: exampleRows() }, family)
        .chains) {
        for (const sentence of rules.map(ruleSentence)) {
          assert.match(sentence, /^(if [^:]+: )*[a-z]/, name);
          assert.ok(!sentence.includes('undefined') && !sentence.endsWith(': '), sentence);
        }
      }
    }
  });

  it('explain the purpose of a second rule', () => {
    const content = tableContent({ facts: FACTS, rows: [] }, 'ip');
    const pick = content.chains.find(({ name }) => name === 'pick/2');
    assert.deepEqual(pick?.rules.map(ruleSentence), [
      'sends it to the endpoint in a slot drawn at random from 0 to 1 of its list (@slots)',
      'if nothing is in that slot: sends it to the endpoint in slot 0 of its list (@slots)',
    ]);
  });
});
