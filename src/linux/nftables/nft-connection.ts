import { constants } from 'node:os';
import { NetlinkError } from '../netlink/netlink-error.ts';
import {
  type Acknowledgement,
  dump,
  nextMessages,
  readAcknowledgement,
  request,
} from '../netlink/netlink-exchange.ts';
import type { Netlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import type { NetlinkMessage } from '../netlink/reader.ts';
import { readAttributes } from '../netlink/reader.ts';
import { NftBatch } from './batch.ts';
import { decodeElements, type StoredElement } from './decode-elements.ts';
import {
  decodeChain,
  decodeRule,
  decodeSet,
  type StoredChain,
  type StoredRule,
  type StoredSet,
} from './decode-nftables.ts';
import type { TableRef } from './nft-objects.ts';
import {
  type AnyFamily,
  CHAIN,
  DATA,
  ELEMENT,
  ELEMENTS,
  FAMILY_NUMBER,
  FLAG,
  GENERATION,
  LIST_ITEM,
  MESSAGE,
  RULE,
  SET,
} from './nftables-protocol.ts';
import { unsigned32 } from './read-numbers.ts';
import type { Binary } from './userdata.ts';

const HEADER_BYTES = 4;
const { ENOENT, EINTR, EBUSY, ENOBUFS } = constants.errno;
const MOST_DUMP_ATTEMPTS = 20;
/** The kernel answers each key by a message of its own, and all of them must fit the socket. */
const KEYS_AT_ONCE = 100;

/** The kernel rejected a batch because of one operation. */
export class NftRejection extends NetlinkError {
  /** Owner of the rejected operation; undefined: the batch as a whole. */
  readonly owner: string | undefined;

  constructor(about: { errno: number; detail?: string; owner: string | undefined }) {
    super(about.owner === undefined ? 'commit' : `commit of ${about.owner}`, about);
    this.owner = about.owner;
  }
}

export interface CommitCount {
  readonly done: number;
  readonly isUnderWay: boolean;
}

/**
 * A connection to the kernel's nf_tables: transactions and dumps. The caller runs one at a time.
 */
export class NftConnection implements Disposable {
  readonly #netlink: Netlink;
  /** One for all batches: a new buffer for every change is work for the collector. */
  readonly #writer = new NetlinkWriter();
  #sequence = 1;
  #writtenCount = 0;
  #commits: CommitCount = { done: 0, isUnderWay: false };

  constructor(netlink: Netlink) {
    this.#netlink = netlink;
  }

  /** The port id that the kernel reports as the author of our changes. */
  get portId(): number {
    return this.#netlink.portId;
  }

  /** Operations that the kernel has taken since the start. */
  get writtenCount(): number {
    return this.#writtenCount;
  }

  /** Batches that the kernel has taken: each raises its generation by one. */
  get commits(): CommitCount {
    return this.#commits;
  }

  /** The previous batch must have been committed, or is discarded. */
  begin(): NftBatch {
    this.#writer.clear();
    return new NftBatch(this.#sequence, this.#writer);
  }

  /** Resolves when the kernel has all of it. An empty batch is none. */
  async commit(batch: NftBatch): Promise<void> {
    if (batch.operationCount === 0) return;
    const { bytes, begin, last, next } = batch.finish();
    this.#sequence = next;
    const { done } = this.#commits;
    this.#commits = { done, isUnderWay: true };
    let first: Acknowledgement | undefined;
    try {
      await this.#netlink.send(bytes);
      [first] = await this.#rejections({ begin, last });
    } finally {
      this.#commits = { done: first ? done : done + 1, isUnderWay: false };
    }
    if (!first) {
      this.#writtenCount += batch.operationCount;
      return;
    }
    const at = first.sequence === begin ? undefined : batch.offsetOf(first.sequence);
    const owner = at === undefined ? undefined : batch.ownerAt(at + (first.offset ?? 0));
    throw new NftRejection({ ...first, owner });
  }

  async chains(table: TableRef): Promise<StoredChain[]> {
    return await this.#collect(table, MESSAGE.getChain, {
      attributes: (w) => w.text(CHAIN.table, table.name),
      decode: (body) => decodeChain(body, table),
    });
  }

  /** In order; of one chain, or of all. */
  async rules(table: TableRef, chain?: string): Promise<StoredRule[]> {
    const rules = await this.#collect(table, MESSAGE.getRule, {
      attributes: (w) => {
        w.text(RULE.table, table.name);
        if (chain !== undefined) w.text(RULE.chain, chain);
      },
      decode: (body) => decodeRule(body, table),
    });
    return chain === undefined ? rules : rules.filter((rule) => rule.chain === chain);
  }

  async sets(table: TableRef): Promise<StoredSet[]> {
    return await this.#collect(table, MESSAGE.getSet, {
      attributes: (w) => w.text(SET.table, table.name),
      decode: (body) => decodeSet(body, table),
    });
  }

  /**
   * Every element of a set. `consistent` is false when the set changed meanwhile, or part of the
   * answer was lost: then elements may be missing or come twice. A set that is not there has none.
   */
  async elements(
    table: TableRef,
    set: string,
    onElement: (element: StoredElement) => void,
  ): Promise<{ consistent: boolean }> {
    const attributes = (w: NetlinkWriter) => {
      w.text(ELEMENTS.table, table.name);
      w.text(ELEMENTS.set, set);
    };
    const what = `list the elements of ${table.family} ${table.name} ${set}`;
    for (let attempt = 1; ; attempt++) {
      let isBegun = false;
      try {
        if (attempt > 1) this.#drain();
        const bytes = this.#question(table.family, { type: MESSAGE.getElements, attributes });
        return await dump(this.#netlink, { bytes, what }, ({ body }) => {
          isBegun = true;
          decodeElements(body.subarray(HEADER_BYTES), onElement);
        });
      } catch (error) {
        if (isErrno(error, EINTR)) return { consistent: false };
        if (isErrno(error, ENOENT)) return { consistent: true };
        if (!isPassing(error) || attempt === MOST_DUMP_ATTEMPTS) throw error;
        if (isBegun) return { consistent: false };
      }
    }
  }

  /**
   * The elements of a set with these keys; throws a `NetlinkRejection` with ENOENT if one is missing.
   * Its cost is that of the keys, not of the set.
   */
  async elementsWithKeys(
    table: TableRef,
    { set, keys }: { readonly set: string; readonly keys: readonly Binary[] },
    onElement: (element: StoredElement) => void,
  ): Promise<void> {
    const what = `read elements of ${table.family} ${table.name} ${set}`;
    for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
      const bytes = this.#keyQuestion(table, { set, keys: keys.slice(from, from + KEYS_AT_ONCE) });
      await request(this.#netlink, { bytes, what }, ({ body }) =>
        decodeElements(body.subarray(HEADER_BYTES), onElement),
      );
      await nextTurn();
    }
  }

  /** Increases with every transaction of any process. */
  async generation(): Promise<number> {
    const writer = new NetlinkWriter();
    const flags = FLAG.request | FLAG.acknowledge;
    const begun = writer.beginMessage({
      type: MESSAGE.getGeneration,
      flags,
      sequence: this.#sequence++,
    });
    writer.raw(Buffer.alloc(HEADER_BYTES));
    writer.endMessage(begun);
    let id = 0;
    const what = 'read the nftables generation id';
    await request(this.#netlink, { bytes: writer.bytes, what }, ({ body }) => {
      id = unsigned32(readAttributes(body.subarray(HEADER_BYTES)).get(GENERATION.id)) ?? id;
    });
    return id;
  }

  [Symbol.dispose](): void {
    this.#netlink[Symbol.dispose]();
  }

  /** A small dump: asked again when what it reads was changed meanwhile, or was lost. */
  async #collect<T>(
    table: TableRef,
    type: number,
    how: { attributes: (w: NetlinkWriter) => void; decode: (body: Buffer) => T | undefined },
  ): Promise<T[]> {
    for (let attempt = 1; ; attempt++) {
      const found: T[] = [];
      const collect = ({ body }: NetlinkMessage) => {
        const item = how.decode(body);
        if (item !== undefined) found.push(item);
      };
      try {
        if (attempt > 1) this.#drain();
        const bytes = this.#question(table.family, { type, attributes: how.attributes });
        const what = `list ${table.family} ${table.name}`;
        const { consistent } = await dump(this.#netlink, { bytes, what }, collect);
        if (consistent || attempt === MOST_DUMP_ATTEMPTS) return found;
      } catch (error) {
        if (isErrno(error, ENOENT)) return [];
        const isWorthAsking = isErrno(error, EINTR) || isPassing(error);
        if (!isWorthAsking || attempt === MOST_DUMP_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * The kernel has decided already. Treating a failed read as a rejection would lose an applied
   * batch: read again.
   */
  async #answers(): Promise<Iterable<NetlinkMessage>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await nextMessages(this.#netlink, 'commit');
      } catch (error) {
        if (!isErrno(error, ENOBUFS) || attempt === MOST_DUMP_ATTEMPTS) throw error;
      }
    }
  }

  /** Reads the rest of an abandoned response: before that the kernel starts no other dump. */
  #drain(): void {
    while (this.#netlink.receive() !== undefined);
  }

  #question(
    family: AnyFamily,
    asked: { type: number; attributes: (w: NetlinkWriter) => void },
  ): Buffer {
    const writer = new NetlinkWriter();
    const flags = FLAG.request | FLAG.dump;
    const begun = writer.beginMessage({ type: asked.type, flags, sequence: this.#sequence++ });
    writer.raw(Buffer.from([FAMILY_NUMBER[family], 0, 0, 0]));
    asked.attributes(writer);
    writer.endMessage(begun);
    return writer.bytes;
  }

  #keyQuestion(
    table: TableRef,
    asked: { readonly set: string; readonly keys: readonly Binary[] },
  ): Buffer {
    const writer = new NetlinkWriter();
    const flags = FLAG.request | FLAG.acknowledge;
    const sequence = this.#sequence++;
    const begun = writer.beginMessage({ type: MESSAGE.getElements, flags, sequence });
    writer.raw(Buffer.from([FAMILY_NUMBER[table.family], 0, 0, 0]));
    writer.text(ELEMENTS.table, table.name);
    writer.text(ELEMENTS.set, asked.set);
    const list = writer.beginNested(ELEMENTS.list);
    for (const key of asked.keys) {
      const item = writer.beginNested(LIST_ITEM);
      const data = writer.beginNested(ELEMENT.key);
      writer.binary(DATA.value, key);
      writer.endNested(data);
      writer.endNested(item);
    }
    writer.endNested(list);
    writer.endMessage(begun);
    return writer.bytes;
  }

  /**
   * The kernel responds during send(2): one error per rejected operation, then the acknowledgement
   * of the last one; a batch that failed as a whole is answered with the sequence number of its
   * begin.
   */
  async #rejections(sequences: { begin: number; last: number }) {
    const rejections: Acknowledgement[] = [];
    for (;;) {
      for (const message of await this.#answers()) {
        const answer = readAcknowledgement(message);
        if (!answer || answer.sequence < sequences.begin) continue;
        if (answer.errno !== 0) rejections.push(answer);
        if (answer.sequence === sequences.last || answer.sequence === sequences.begin)
          return rejections;
      }
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** An answer was lost, or the one before it has not been read to its end. */
function isPassing(error: unknown): boolean {
  return isErrno(error, ENOBUFS) || isErrno(error, EBUSY);
}

function isErrno(error: unknown, errno: number): boolean {
  return error instanceof NetlinkError && error.errno === errno;
}
