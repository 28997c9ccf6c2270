import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { NETLINK_NETFILTER } from '../nftables/nftables-protocol.ts';
import { ensureAccount, readAccount } from './nfacct.ts';

beforeEach(enterOwnNetwork);

it('counts the packets of a rule that names the counter', async (context) => {
  using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
  assert.equal(await readAccount(netlink, 'mine'), undefined);
  if (!(await ensureAccount(netlink, 'mine'))) return context.skip('the kernel has no nfacct');
  assert.equal(await readAccount(netlink, 'mine'), 0);
  const rule = '-A OUTPUT -d 127.0.0.1 -p icmp -m nfacct --nfacct-name mine'.split(' ');
  run(['/usr/sbin/xtables-nft-multi', 'iptables', ...rule]);
  run(['ip', 'link', 'set', 'lo', 'up']);
  // No process listens on the port: the reset is the counted packet.
  run(['bash', '-c', 'for n in 1 2 3; do echo x > /dev/udp/127.0.0.1/9; done']);
  assert.equal(await readAccount(netlink, 'mine'), 3);
});

it('treats a lost response as no response', async () => {
  using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
  const lost = {
    portId: netlink.portId,
    send: (bytes: Buffer) => netlink.send(bytes),
    receive: () => undefined,
    [Symbol.dispose]: () => undefined,
  };
  await assert.rejects(ensureAccount(lost as unknown as Netlink, 'mine'), { code: 'ETIMEDOUT' });
});
