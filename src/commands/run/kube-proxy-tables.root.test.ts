import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { openNetlink } from '../../linux/netlink/netlink-socket.ts';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import { NETLINK_NETFILTER } from '../../linux/nftables/nftables-protocol.ts';
import { removeKubeProxyTables } from './kube-proxy-tables.ts';

beforeEach(enterOwnNetwork);

async function remove(): Promise<string[]> {
  const lines: string[] = [];
  const note = (_: unknown, text?: string): void => {
    lines.push(text ?? String(_));
  };
  await removeKubeProxyTables({
    openNetlink: () => openNetlink({ protocol: NETLINK_NETFILTER }),
    log: { info: note, warn: note },
  });
  return lines;
}

test('removes the tables of kube-proxy, and nothing else', async () => {
  for (const table of ['ip kube-proxy', 'ip other']) {
    run(['nft', `add table ${table}; add chain ${table} services`]);
  }
  assert.deepEqual(await remove(), ['removed the nftables tables of kube-proxy']);
  assert.equal(run(['nft', 'list', 'tables']).trim(), 'table ip other');
  assert.deepEqual(await remove(), [], 'and says nothing where there is none');
});
