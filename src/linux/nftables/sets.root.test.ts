import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { NftConnection } from './nft-connection.ts';
import { NETLINK_NETFILTER, type TableFamily } from './nftables-protocol.ts';
import { exampleSets, nftText } from './testing/example-sets.ts';

before(enterOwnNetwork);

const FAMILIES: readonly TableFamily[] = ['ip', 'ip6'];

for (const family of FAMILIES) {
  describe(`sets of family ${family}`, () => {
    it('are in the kernel as if nft had created them', async () => {
      using connection = new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
      const ours = { family, name: 'ours' };
      run(['nft', '-f', '-'], nftText(family, 'theirs'));
      const batch = connection.begin();
      batch.addTable(ours, 'of a test');
      for (const set of exampleSets(family)) batch.addSet(ours, set);
      await connection.commit(batch);
      const stored = await connection.sets(ours);
      assert.equal(stored.length, exampleSets(family).length);
      assert.deepEqual(stored, await connection.sets({ family, name: 'theirs' }));
      const listing = (table: string) =>
        run(['nft', 'list', 'table', family, table]).replace(/^.*\{\n(\tcomment.*\n)?/, '');
      assert.equal(listing('ours'), listing('theirs'));
    });
  });
}
