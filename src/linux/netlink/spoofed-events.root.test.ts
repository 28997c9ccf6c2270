import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { before, describe, it, type TestContext } from 'node:test';
import koffi from 'koffi';
import { NETLINK_NETFILTER } from '../nftables/nftables-protocol.ts';
import { NETLINK_ROUTE } from '../route/route-protocol.ts';
import { closeDescriptor, openNetlinkSocket } from './netlink-libc.ts';
import { openNetlink } from './netlink-socket.ts';
import { enterOwnNetwork } from './testing/own-namespace.ts';

const AF_NETLINK = 16;
const { EPERM } = constants.errno;
const NOBODY = 65_534;

const connect: (fd: number, address: Uint8Array, length: number) => number = koffi
  .load('libc.so.6')
  .func('int connect(int fd, void *address, unsigned int length)');

/** The errno of aiming a socket at that of another process; 0: it could now send to it. */
function aimAt(portId: number, protocol: number): number {
  const fd = openNetlinkSocket(protocol);
  assert.ok(typeof fd === 'number');
  const address = Buffer.alloc(12);
  address.writeUInt16LE(AF_NETLINK, 0);
  address.writeUInt32LE(portId, 4);
  const result = connect(fd, address, address.length);
  const errno = result === 0 ? 0 : koffi.errno();
  closeDescriptor(fd);
  return errno;
}

/** The kernel takes the capabilities of a thread away with its effective user. */
function asNobody<T>(t: TestContext, work: () => T): T {
  const back = (): void => process.seteuid?.(0);
  t.after(back);
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    back();
  }
}

describe('a local user without rights', () => {
  before(enterOwnNetwork);

  for (const [name, protocol] of [
    ['rules', NETLINK_NETFILTER],
    ['addresses and links', NETLINK_ROUTE],
  ] as const) {
    it(`sends no events to a socket that listens for ${name}`, (t) => {
      using ours = openNetlink({ protocol });
      assert.equal(aimAt(ours.portId, protocol), 0, 'root may');
      assert.equal(
        asNobody(t, () => aimAt(ours.portId, protocol)),
        EPERM,
      );
    });
  }
});
