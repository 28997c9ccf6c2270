import { randomBytes } from 'node:crypto';
import type { Netlink } from '../../../../linux/netlink/netlink-socket.ts';
import type { NftBatch } from '../../../../linux/nftables/batch.ts';
import * as x from '../../../../linux/nftables/expressions.ts';
import { NftConnection } from '../../../../linux/nftables/nft-connection.ts';
import type { TableRef } from '../../../../linux/nftables/nft-objects.ts';
import { KEPT_PORTS } from '../../../../linux/userspace/source-ports.ts';
import { deleteReturnRoutes, keepReturnRoutes } from '../forwarder-routes.ts';

/**
 * Where the client's address is kept, the forwarder's socket to the endpoint is bound to it, and
 * answers are for an address that this machine does not have. They are marked by the socket that
 * waits for them, and a rule delivers what is marked. The marking is in a table of the process's own,
 * which the kernel deletes with it: connections go on while another mode takes over.
 */

/** Every mark that `returnMark` gives. */
export const RETURN_MARKS = [0x2000, 0x1000] as const;

/** The bit of the packet mark; another one where this one requests masquerading. */
export function returnMark(masqueradeMark: number): number {
  const [usual, other] = RETURN_MARKS;
  return masqueradeMark === usual ? other : usual;
}

/** After translations are undone (-100), which may change the address of an answer and its port. */
const AFTER_TRANSLATION = -90;
const CHAIN = 'answers';
const TCP = '\x06';

export class ReturnPath implements Disposable {
  readonly #connection: NftConnection;
  readonly #mark: number;

  private constructor(connection: NftConnection, mark: number) {
    this.#connection = connection;
    this.#mark = mark;
  }

  /** Rejects with a NetlinkError. The netlink socket is kept until the path is closed. */
  static async open(netlink: Netlink, mark: number): Promise<ReturnPath> {
    const connection = new NftConnection(netlink);
    try {
      await keepReturnRoutes(mark);
      const batch = connection.begin();
      const name = `fairlead-forwarder-${randomBytes(4).toString('hex')}`;
      writeTable(batch, { family: 'inet', name }, mark);
      await connection.commit(batch);
      return new ReturnPath(connection, mark);
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
  }

  /** Another process may have deleted them. */
  async keepRoutes(): Promise<void> {
    await keepReturnRoutes(this.#mark);
  }

  /** Routes are shared by all forwarders: only the last one deletes them. */
  async deleteRoutes(): Promise<void> {
    await deleteReturnRoutes(this.#mark);
  }

  /** Deletes the table. Connections that keep a client's address get no answers any more. */
  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

function writeTable(batch: NftBatch, table: TableRef, mark: number): void {
  batch.addOwnedTable(table, 'answers to connections of the forwarder; ends with its process');
  const base = { type: 'filter', hook: 'prerouting', priority: AFTER_TRANSLATION } as const;
  batch.addChain(table, { name: CHAIN, base });
  batch.addRule(table, {
    chain: CHAIN,
    expressions: [
      x.loadL4Protocol(0),
      x.compare(0, 'equal', TCP),
      x.loadDestinationPort(0),
      ...x.compareRange(0, bigEndian16(KEPT_PORTS.first), bigEndian16(KEPT_PORTS.last)),
      x.loadSocket('transparent', 0),
      x.compare(0, 'equal', '\x01'),
      x.loadSocket('wildcard', 0),
      x.compare(0, 'equal', '\x00'),
      x.loadMark(0),
      x.bitwise(0, { mask: littleEndian32(~mark), xor: littleEndian32(mark) }),
      x.setMark(0),
    ],
    fingerprint: '',
  });
}

function bigEndian16(value: number): string {
  return String.fromCharCode(value >>> 8, value & 0xff);
}

function littleEndian32(value: number): string {
  const bytes = [value, value >>> 8, value >>> 16, value >>> 24].map((each) => each & 0xff);
  return String.fromCharCode(...bytes);
}
