import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FAMILIES } from '../../../forwarding/model.ts';
import { renderedTables, restoreText } from './render-iptables.ts';
import { FACTS, SETTING, upstreamRows } from './testing/iptables-rows.ts';
import { sortedTables } from './testing/sorted-tables.ts';

describe('the rules of rows', () => {
  for (const family of FAMILIES) {
    it(`are line by line what kube-proxy v1.37.1 writes, ${family}`, () => {
      const name = `upstream-${family.toLowerCase()}.txt`;
      const upstream = readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8');
      const ours = restoreText(renderedTables(upstreamRows(), SETTING, family));
      assert.deepEqual(sortedTables(ours), sortedTables(upstream));
    });
  }

  it('have no path to loopback unless it is configured', () => {
    const { nodePortsOnLocalhost: _, ...facts } = FACTS;
    const tables = renderedTables([], { ...SETTING, facts }, 'IPv4');
    assert.match(tables.nat.get('KUBE-SERVICES')?.[0] ?? '', /^! -d 127\.0\.0\.0\/8 /);
    assert.deepEqual(tables.filter.get('KUBE-FIREWALL'), []);
  });

  it('match only the addresses that node ports are served on', () => {
    const nodePortAddresses = { IPv4: ['192.0.2.1', '192.0.2.2'], IPv6: [] };
    const setting = { ...SETTING, facts: { ...FACTS, nodePortAddresses } };
    const rules = renderedTables([], setting, 'IPv4').nat.get('KUBE-SERVICES') ?? [];
    assert.deepEqual(
      rules.map((rule) => rule.split(' ', 2).join(' ')),
      ['-d 192.0.2.1/32', '-d 192.0.2.2/32'],
    );
    assert.deepEqual(renderedTables([], setting, 'IPv6').nat.get('KUBE-SERVICES'), []);
  });
});
