import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import { enterOwnNetwork, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { endpointChainName } from './chain-names.ts';
import { bring, Tools } from './testing/bring-iptables.ts';
import { FACTS, frontend, INTERNAL, row, upstreamRows } from './testing/iptables-rows.ts';

beforeEach(enterOwnNetwork);

const ROWS = upstreamRows();

function web(endpoints: readonly string[]): Forwarding {
  const at = { address: '10.96.1.1', port: 80 };
  const frontends = [frontend('cluster-ip', at, INTERNAL('cluster'))];
  const lists = ['cluster'] as const;
  return row({ name: 'web', lists, endpoints, frontends, affinitySeconds: 60 });
}

describe('session affinity on nft', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  it('keeps the recent lists of clients when an endpoint is added', async () => {
    const [one, two] = [web(['10.1.0.1:80']), web(['10.1.0.1:80', '10.1.0.2:80'])];
    const plane = tools.newPlane();
    await bring(plane, [one]);
    const list = `/proc/net/xt_recent/${endpointChainName(one.id, '10.1.0.1:80')}`;
    writeFileSync(list, '+192.0.2.7\n');
    await plane.apply([change(one, two)]);
    assert.match(readFileSync(list, 'latin1'), /src=192\.0\.2\.7 /);
  });
});

describe('a table with rules that iptables cannot read', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  for (const [chain, rule] of [
    ['nat POSTROUTING', 'masquerade'],
    ['filter INPUT', 'ct state established accept'],
  ] as const) {
    it(`is not treated as empty: ${rule} in ${chain}`, async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      run(['nft', `add rule ip ${chain} ${rule}`]);
      const found = listIPv4();
      const inspected = plane.inspect({ facts: FACTS, rows: ROWS }, 'everything');
      await assert.rejects(inspected, { code: 'IPTABLES_INCOMPATIBLE' });
      await assert.rejects(tools.newPlane().remove(), { code: 'IPTABLES_INCOMPATIBLE' });
      assert.deepEqual(listIPv4(), found);
    });
  }

  it('has nothing to remove when it has none of our chains', async () => {
    run(['nft', 'add table ip nat']);
    run(['nft', 'add chain ip nat POSTROUTING { type nat hook postrouting priority 100 ; }']);
    run(['nft', 'add rule ip nat POSTROUTING masquerade']);
    const found = listIPv4();
    const plane = tools.newPlane();
    assert.deepEqual(await plane.frontends(), []);
    await plane.remove();
    assert.deepEqual(listIPv4(), found);
    const inspected = plane.inspect({ facts: FACTS, rows: ROWS }, 'everything');
    await assert.rejects(inspected, { code: 'IPTABLES_INCOMPATIBLE' });
  });
});

/** With the handles, so that a rule that was written again is another one. */
function listIPv4(): string {
  return run(['nft', '--handle', '--stateless', 'list', 'ruleset', 'ip']);
}
