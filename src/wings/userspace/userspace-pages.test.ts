import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FACTS, row } from '../../dataplanes/nftables/testing/nftables-rows.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { userspacePages } from './userspace-mode.ts';

const TCP = row({ number: 1, protocol: 'TCP' });
const UDP = row({ number: 2, protocol: 'UDP' });

function chainsOf(key: string): ReadonlyMap<string, readonly string[]> {
  const pages = userspacePages({ facts: FACTS, rows: [TCP, UDP] }, () => true);
  const page = pages.find((each) => each.key === key);
  assert.ok(page);
  return new Map(page.chains.map(({ name, rules }) => [name, rules.map(({ text }) => text)]));
}

describe('pages of the userspace mode', () => {
  it('have the rules that hand TCP over', () => {
    const chains = chainsOf(servicePortKey(TCP.id));
    assert.equal(chains.get('cluster/3')?.[0], 'jump hand-over');
    const handOver = chains.get('hand-over') ?? [];
    assert.ok(handOver.some((text) => text.endsWith('map @forwarder-outside')));
  });

  it('have no rules for UDP that only concern TCP', () => {
    const chains = chainsOf(servicePortKey(UDP.id));
    assert.ok(!(chains.get('hand-over') ?? []).some((text) => text.includes('@forwarder-')));
  });
});
