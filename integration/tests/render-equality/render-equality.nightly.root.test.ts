import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { CORPUS } from '../../../conformance/corpus.ts';
import { nodeName } from '../../../lab/network/plan.ts';
import type { NodeFacts } from '../../../src/dataplanes/contract.ts';
import { TABLE_FAMILIES } from '../../../src/dataplanes/nftables/nftables-chains.ts';
import type { NftablesPlane } from '../../../src/dataplanes/nftables/nftables-plane.ts';
import { renderTable } from '../../../src/dataplanes/nftables/render-nftables.ts';
import { tableContent } from '../../../src/dataplanes/nftables/table-content.ts';
import {
  canonicalListing,
  listingDifferences,
} from '../../../src/dataplanes/nftables/testing/canonical.ts';
import {
  bring,
  listTable,
  newPlane,
} from '../../../src/dataplanes/nftables/testing/nftables-kernel.ts';
import type { Forwarding, NodeView } from '../../../src/forwarding/model.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { type ClusterState, clusterStates } from '../../compare/oracle/states.ts';
import { corpusObjects } from './corpus-objects.ts';
import { isForwarding, rowsOf } from './rows.ts';
import { isValid } from './valid-state.ts';

before(enterOwnNetwork);

const STATES = 200;
/** Few of the states forward anything at all; of those that do there must be some. */
const FORWARDING_STATES = 100;
const SEED = 20_260;

/** The same facts as the view of the node, which the rows were made with. */
function factsFor({ detectsPods, masqueradeAll }: NodeView): NodeFacts {
  return {
    podDetection: {
      IPv4: detectsPods.IPv4 ? { by: 'cidr', cidr: '10.244.0.0/16' } : undefined,
      IPv6: detectsPods.IPv6 ? { by: 'interface-prefix', prefix: 'veth' } : undefined,
    },
    nodePortAddresses: masqueradeAll
      ? { IPv4: 'all', IPv6: 'all' }
      : { IPv4: ['172.30.1.1', '172.30.1.2'], IPv6: ['fd00:30::1'] },
    serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'],
    masqueradeMark: masqueradeAll ? 2 ** 31 : 0x4000,
  };
}

/** Writes the rows to an empty kernel and compares what `nft` lists with what `render` prints. */
async function assertRendered(
  plane: NftablesPlane,
  facts: NodeFacts,
  rows: readonly Forwarding[],
): Promise<void> {
  await bring(plane, { facts, rows });
  for (const family of TABLE_FAMILIES) {
    const listed = listTable(family);
    const rendered = renderTable(tableContent({ facts, rows }, family));
    assert.deepEqual(listingDifferences(listed, rendered), []);
    assert.equal(canonicalListing(listed), canonicalListing(rendered), 'in the same order');
  }
  await plane.remove();
}

function viewOf({ nodeName: name, zone, masqueradeAll, detectsPods }: ClusterState): NodeView {
  const both = { IPv4: detectsPods, IPv6: detectsPods };
  return { ...unknownNode(name), zone, masqueradeAll, detectsPods: both };
}

describe('what render prints', () => {
  it('is what nft lists of the scenarios of the corpus, all at once', async () => {
    const plane = newPlane();
    for (const node of [1, 2]) {
      const view: NodeView = { ...unknownNode(nodeName(node)), nodeIPs: ['172.30.1.1'] };
      const rows = rowsOf(corpusObjects(CORPUS), view);
      assert.ok(rows.filter(isForwarding).length > 200, 'the scenarios forward something');
      await assertRendered(plane, factsFor(view), rows);
    }
  });

  it(`is what nft lists of ${STATES} generated clusters`, async () => {
    const plane = newPlane();
    const cases = fc
      .sample(clusterStates(), { numRuns: 20 * STATES, seed: SEED })
      .filter(isValid)
      .map((state) => ({ view: viewOf(state), rows: rowsOf(state, viewOf(state)) }));
    const forwarding = cases.filter(({ rows }) => rows.some(isForwarding));
    const chosen = [
      ...forwarding.slice(0, FORWARDING_STATES),
      ...cases.slice(0, STATES - FORWARDING_STATES),
    ];
    assert.equal(chosen.length, STATES);
    for (const { view, rows } of chosen) await assertRendered(plane, factsFor(view), rows);
  });
});
