import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import type { NodeFacts } from '../contract.ts';
import { TABLE_FAMILIES } from './chains.ts';
import { renderTable } from './render.ts';
import { TARGET_SETS } from './sets.ts';
import { tableContent } from './table-content.ts';
import { bring, listEverything, listTable, newPlane } from './testing/kernel.ts';
import { exampleRows, FACTS } from './testing/rows.ts';

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

const ROWS = exampleRows();
const DESIRED = { facts: FACTS, rows: ROWS };
const PORTS = {
  IPv4: { pod: 40_001, host: 40_002, outside: 40_003 },
  IPv6: { pod: 40_004, host: 40_005, outside: 40_006 },
};

const rendered = (facts: NodeFacts, family: (typeof TABLE_FAMILIES)[number]) =>
  renderTable(tableContent({ facts: { ...facts, handsOver: true }, rows: ROWS }, family));

function elementsOf(set: string, family = 'ip'): string {
  const listing = run(['nft', 'list', 'map', family, 'fairlead', set]);
  return /elements = \{ (.*) \}/.exec(listing)?.[1]?.replace(/ expires \S+/, '') ?? '';
}

const targetsIn = (family: string) => TARGET_SETS.map((set) => elementsOf(set, family));

describe('the nftables plane with a forwarder', () => {
  it('creates the table that render prints, byte for byte', async () => {
    await bring(newPlane({ forwarder: true }), DESIRED);
    for (const family of TABLE_FAMILIES) {
      assert.equal(listTable(family), rendered(FACTS, family));
    }
    listEverything();
  });

  it('writes where the forwarder listens, for some seconds', async () => {
    const plane = newPlane({ forwarder: true });
    await bring(plane, DESIRED);
    await plane.setForwarder(PORTS);
    assert.deepEqual(TABLE_FAMILIES.map(targetsIn), [
      [
        'tcp timeout 4s : 169.254.118.118 . 40001',
        'tcp timeout 4s : 169.254.118.118 . 40002',
        'tcp timeout 4s : 169.254.118.118 . 40003',
      ],
      [
        'tcp timeout 4s : fdfa:118:118::118 . 40004',
        'tcp timeout 4s : fdfa:118:118::118 . 40005',
        'tcp timeout 4s : fdfa:118:118::118 . 40006',
      ],
    ]);
    await plane.setForwarder({ ...PORTS, IPv6: null });
    assert.deepEqual(targetsIn('ip6'), ['', '', '']);
    await plane.setForwarder(undefined);
    assert.deepEqual(TABLE_FAMILIES.map(targetsIn), [
      ['', '', ''],
      ['', '', ''],
    ]);
  });
});
