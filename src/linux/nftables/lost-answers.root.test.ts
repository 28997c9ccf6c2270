import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { it } from 'node:test';
import { NetlinkError } from '../netlink/netlink-error.ts';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { NftConnection } from './nft-connection.ts';
import { NETLINK_NETFILTER } from './nftables-protocol.ts';

enterOwnNetwork();

const { ENOBUFS } = constants.errno;
const TABLE = { family: 'ip', name: 'lossy' } as const;

/** The number of next receives that fail, without reading from the socket. */
class Lossy {
  failures = 0;
  readonly netlink: Netlink;

  constructor(inner: Netlink) {
    this.netlink = {
      portId: inner.portId,
      send: (bytes) => inner.send(bytes),
      receive: () => {
        if (this.failures-- > 0) throw new NetlinkError('receive', { errno: ENOBUFS });
        return inner.receive();
      },
      listen: (listener, signal) => inner.listen(listener, signal),
      [Symbol.dispose]: () => inner[Symbol.dispose](),
    };
  }
}

it('commit() does not treat a failed read of the response as a rejection', async () => {
  const lossy = new Lossy(openNetlink({ protocol: NETLINK_NETFILTER }));
  using connection = new NftConnection(lossy.netlink);
  const batch = connection.begin();
  batch.addTable(TABLE, '');
  lossy.failures = 2;
  await connection.commit(batch);
  assert.match(run(['nft', 'list', 'tables']), /table ip lossy/);
});

it('retries a dump whose response was lost', async () => {
  run(['nft', 'add table ip lossy; add chain ip lossy a; add chain ip lossy b']);
  const lossy = new Lossy(openNetlink({ protocol: NETLINK_NETFILTER }));
  using connection = new NftConnection(lossy.netlink);
  lossy.failures = 2;
  const names = (await connection.chains(TABLE)).map(({ name }) => name);
  assert.deepEqual(names.sort(), ['a', 'b']);
});
