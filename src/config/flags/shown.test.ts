import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FLAG_NAMES } from './flag-table.ts';
import { shownFlags } from './shown.ts';

it('shows the given value or the default, as Go prints it', () => {
  const flags = shownFlags(
    new Map([
      ['nodeport-addresses', ['10.0.0.0/8', '192.168.0.0/16']],
      ['proxy-mode', ['nftables']],
    ]),
  );
  assert.deepEqual(Object.keys(flags).sort(), [...FLAG_NAMES].sort());
  for (const [name, text] of [
    ['nodeport-addresses', '10.0.0.0/8,192.168.0.0/16'],
    ['proxy-mode', 'nftables'],
    ['ipvs-exclude-cidrs', '[]'],
    ['config-sync-period', '15m0s'],
    ['conntrack-max-per-core', '32768'],
    ['iptables-localhost-nodeports', 'true'],
    ['cleanup', 'false'],
    ['feature-gates', ''],
    ['cluster-cidr', ''],
  ] as const) {
    assert.equal(flags[name], text, name);
  }
});
