import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { writeVerdict } from './expressions.ts';
import type { ChainSpec, RuleSpec, SetElement, SetSpec, TableRef } from './nft-objects.ts';
import {
  type AnyFamily,
  CHAIN,
  DATA,
  ELEMENT,
  ELEMENTS,
  FAMILY_NUMBER,
  FLAG,
  HOOK,
  HOOK_NUMBER,
  LIST_ITEM,
  MESSAGE,
  RULE,
  SET,
  TABLE,
  TABLE_FLAG_OWNER,
} from './nftables-protocol.ts';
import { writeSetDefinition } from './set-definition.ts';
import { type Binary, commentUdata, udata } from './userdata.ts';

const NFNETLINK_NFTABLES = 10;
/** A nest has sixteen bits for its length: a longer list of elements needs another message. */
const LONGEST_LIST_BYTES = 60_000;
const RULE_COMMENT = 0;
/** Without a meaning for `nft`, which skips unknown types. */
export const RULE_FINGERPRINT = 0x66;
const ELEMENT_COMMENT = 0;
const TABLE_COMMENT = 0;
/** Where in the bytes the operations of an owner begin. */
interface Mark {
  readonly offset: number;
  readonly owner: string;
}

/** A message about elements that more can be added to. */
interface OpenList {
  readonly message: number;
  readonly list: number;
  readonly type: number;
  readonly table: TableRef;
  readonly set: string;
}

/**
 * One transaction: operations in order, all or none. Every operation has an owner, for attributing
 * a rejection.
 */
export class NftBatch {
  readonly #writer: NetlinkWriter;
  readonly #marks: Mark[] = [];
  #sequence: number;
  #begin: number;
  #last = 0;
  #openList: OpenList | undefined;
  #setCount = 0;
  #operationCount = 0;

  /** The writer is lent until the batch is committed. */
  constructor(firstSequence: number, writer = new NetlinkWriter()) {
    this.#writer = writer;
    this.#sequence = firstSequence;
    this.#begin = firstSequence;
    this.#frame(MESSAGE.batchBegin);
  }

  /** Each element of a list counts: the work of the kernel. */
  get operationCount(): number {
    return this.#operationCount;
  }

  /** The operations after this belong to this owner. */
  own(owner: string): void {
    if (this.#marks.at(-1)?.owner === owner) return;
    this.#marks.push({ offset: this.#writer.length, owner });
  }

  /** The owner of the operation that begins at or before an offset. */
  ownerAt(offset: number): string | undefined {
    return this.#marks.findLast((mark) => mark.offset <= offset)?.owner;
  }

  addTable(table: TableRef, comment?: string): void {
    this.#message(MESSAGE.newTable, { family: table.family, flags: FLAG.create }, (w) => {
      w.text(TABLE.name, table.name);
      if (comment !== undefined) {
        w.binary(TABLE.userdata, commentUdata(TABLE_COMMENT, comment));
      }
    });
  }

  /** It goes with the netlink socket that the batch is committed by, however that ends. */
  addOwnedTable(table: TableRef, comment: string): void {
    this.#message(MESSAGE.newTable, { family: table.family, flags: FLAG.create }, (w) => {
      w.text(TABLE.name, table.name);
      w.u32be(TABLE.flags, TABLE_FLAG_OWNER);
      w.binary(TABLE.userdata, commentUdata(TABLE_COMMENT, comment));
    });
  }

  deleteTable(table: TableRef): void {
    this.#message(MESSAGE.deleteTable, { family: table.family, flags: 0 }, (w) =>
      w.text(TABLE.name, table.name),
    );
  }

  addChain(table: TableRef, chain: ChainSpec): void {
    this.#message(MESSAGE.newChain, { family: table.family, flags: FLAG.create }, (w) => {
      w.text(CHAIN.table, table.name);
      w.text(CHAIN.name, chain.name);
      if (!chain.base) return;
      const hook = w.beginNested(CHAIN.hook);
      w.u32be(HOOK.number, HOOK_NUMBER[chain.base.hook]);
      w.u32be(HOOK.priority, chain.base.priority);
      w.endNested(hook);
      w.text(CHAIN.type, chain.base.type);
    });
  }

  deleteChain(table: TableRef, chain: string): void {
    this.#message(MESSAGE.deleteChain, { family: table.family, flags: 0 }, (w) => {
      w.text(CHAIN.table, table.name);
      w.text(CHAIN.name, chain);
    });
  }

  /** Removes the rules of a chain. */
  flushChain(table: TableRef, chain: string): void {
    this.#message(MESSAGE.deleteRule, { family: table.family, flags: 0 }, (w) => {
      w.text(RULE.table, table.name);
      w.text(RULE.chain, chain);
    });
  }

  addRule(table: TableRef, rule: RuleSpec & { readonly fingerprint: Binary }): void {
    const flags = FLAG.create | FLAG.append;
    this.#message(MESSAGE.newRule, { family: table.family, flags }, (w) => {
      w.text(RULE.table, table.name);
      w.text(RULE.chain, rule.chain);
      const list = w.beginNested(RULE.expressions);
      for (const write of rule.expressions) write(w);
      w.endNested(list);
      const comment = rule.comment === undefined ? '' : commentUdata(RULE_COMMENT, rule.comment);
      w.binary(RULE.userdata, comment + udata(RULE_FINGERPRINT, rule.fingerprint));
    });
  }

  deleteRule(table: TableRef, rule: { readonly chain: string; readonly handle: bigint }): void {
    this.#message(MESSAGE.deleteRule, { family: table.family, flags: 0 }, (w) => {
      w.text(RULE.table, table.name);
      w.text(RULE.chain, rule.chain);
      w.u64be(RULE.handle, rule.handle);
    });
  }

  addSet(table: TableRef, set: SetSpec): void {
    this.#message(MESSAGE.newSet, { family: table.family, flags: FLAG.create }, (w) => {
      w.text(SET.table, table.name);
      this.#setCount += 1;
      w.u32be(SET.id, this.#setCount);
      writeSetDefinition(w, set);
    });
  }

  deleteSet(table: TableRef, set: string): void {
    this.#message(MESSAGE.deleteSet, { family: table.family, flags: 0 }, (w) => {
      w.text(SET.table, table.name);
      w.text(SET.name, set);
    });
  }

  addElement(table: TableRef, set: string, element: SetElement): void {
    const w = this.#writer;
    const item = this.#beginItem(MESSAGE.newElements, table, set);
    writeData(w, ELEMENT.key, element.key);
    if (element.keyEnd !== undefined) writeData(w, ELEMENT.keyEnd, element.keyEnd);
    if (element.value !== undefined) writeData(w, ELEMENT.data, element.value);
    if (element.verdict) {
      const nest = w.beginNested(ELEMENT.data);
      writeVerdict(w, element.verdict.code, element.verdict.chain);
      w.endNested(nest);
    }
    if (element.timeoutMs !== undefined) w.u64be(ELEMENT.timeout, BigInt(element.timeoutMs));
    if (element.comment !== undefined) {
      w.binary(ELEMENT.userdata, commentUdata(ELEMENT_COMMENT, element.comment));
    }
    w.endNested(item);
  }

  deleteElement(table: TableRef, set: string, element: SetElement): void {
    const w = this.#writer;
    const item = this.#beginItem(MESSAGE.deleteElements, table, set);
    writeData(w, ELEMENT.key, element.key);
    if (element.keyEnd !== undefined) writeData(w, ELEMENT.keyEnd, element.keyEnd);
    w.endNested(item);
  }

  /** Deletes all elements of a set; that there are none is no error. */
  flushSet(table: TableRef, set: string): void {
    this.#message(MESSAGE.deleteElements, { family: table.family, flags: 0 }, (w) => {
      w.text(ELEMENTS.table, table.name);
      w.text(ELEMENTS.set, set);
    });
  }

  /** Ends the batch; only its last operation is acknowledged, errors come for any. */
  finish(): { bytes: Buffer; begin: number; last: number; next: number } {
    this.#closeList();
    this.#writer.addFlags(this.#lastOffset, FLAG.acknowledge);
    const last = this.#last;
    this.#frame(MESSAGE.batchEnd);
    return { bytes: this.#writer.bytes, begin: this.#begin, last, next: this.#sequence };
  }

  /** Where a message with this sequence number begins in the bytes. */
  offsetOf(sequence: number): number | undefined {
    return this.#offsets[sequence - this.#begin];
  }

  readonly #offsets: number[] = [];
  #lastOffset = 0;

  #frame(type: number): void {
    const at = this.#start(type, 0);
    this.#writer.raw(Buffer.from([0, 0, 0, NFNETLINK_NFTABLES]));
    this.#writer.endMessage(at);
  }

  #start(type: number, flags: number): number {
    const sequence = this.#sequence++;
    this.#offsets.push(this.#writer.length);
    return this.#writer.beginMessage({ type, flags: flags | FLAG.request, sequence });
  }

  #message(
    type: number,
    to: { readonly family: AnyFamily; readonly flags: number },
    write: (writer: NetlinkWriter) => void,
  ): void {
    this.#closeList();
    this.#lastOffset = this.#open(type, to);
    write(this.#writer);
    this.#writer.endMessage(this.#lastOffset);
    this.#operationCount += 1;
  }

  #open(type: number, to: { readonly family: AnyFamily; readonly flags: number }): number {
    this.#last = this.#sequence;
    const at = this.#start(type, to.flags);
    this.#writer.raw(Buffer.from([FAMILY_NUMBER[to.family], 0, 0, 0]));
    return at;
  }

  /** Elements of one set that follow each other share a message. */
  #beginItem(type: number, table: TableRef, set: string): number {
    const open = this.#openList;
    const hasRoom = open && this.#writer.length - open.list <= LONGEST_LIST_BYTES;
    if (!hasRoom || open.type !== type || open.set !== set || !isSameTable(open.table, table)) {
      this.#openListFor(type, table, set);
    }
    this.#operationCount += 1;
    return this.#writer.beginNested(LIST_ITEM);
  }

  #openListFor(type: number, table: TableRef, set: string): void {
    this.#closeList();
    const flags = type === MESSAGE.newElements ? FLAG.create : 0;
    const message = this.#open(type, { family: table.family, flags });
    this.#writer.text(ELEMENTS.table, table.name);
    this.#writer.text(ELEMENTS.set, set);
    const list = this.#writer.beginNested(ELEMENTS.list);
    this.#openList = { message, list, type, table, set };
    this.#lastOffset = message;
  }

  #closeList(): void {
    if (!this.#openList) return;
    this.#writer.endNested(this.#openList.list);
    this.#writer.endMessage(this.#openList.message);
    this.#openList = undefined;
  }
}

function isSameTable(a: TableRef, b: TableRef): boolean {
  return a === b || (a.family === b.family && a.name === b.name);
}

function writeData(w: NetlinkWriter, type: number, value: Binary): void {
  const nest = w.beginNested(type);
  w.binary(DATA.value, value);
  w.endNested(nest);
}
