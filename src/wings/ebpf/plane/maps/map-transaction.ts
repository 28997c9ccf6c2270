import type { RowChange } from '../../../../dataplanes/contract.ts';
import { knownRow } from '../../../../dataplanes/row-change.ts';
import type { Endpoint, Forwarding, ServicePortKey } from '../../../../forwarding/model.ts';
import type { Binary } from './binary.ts';
import { CountedSlots } from './counted-slots.ts';
import { entryPrint, frontendPrint, slotPrint } from './entry-fingerprint.ts';
import { FrontendBatch } from './frontend-batch.ts';
import { SLOT, wordsIn } from './layout.ts';
import type { Knowledge } from './map-knowledge.ts';
import { frontendKeyOf, sequenceOf, servedFrontends, writeSlot } from './map-row.ts';
import { type Tables, wordsOfSlots } from './open-tables.ts';
import type { SlotRange } from './slot-space.ts';
import { frontendName, UnchangedFrontends, type WrittenRow } from './unchanged-frontends.ts';

interface MovedList {
  readonly key: ServicePortKey;
  readonly old: SlotRange | undefined;
  /** Undefined: the row has no endpoints now. */
  readonly fresh: SlotRange | undefined;
  readonly endpoints: readonly Endpoint[];
}

const SLOT_WORDS = wordsIn(SLOT);

interface Undo {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

/** More room is needed than the maps have. */
export interface Shortage {
  readonly slots: number;
  readonly frontends: number;
}

/**
 * The changes of some rows. Endpoints are written to free slots, then each frontend is pointed there
 * by one write, so that a program sees the old list or the new one. A transaction that the kernel
 * rejects half-way is rolled back.
 */
export class Transaction {
  readonly #knowledge: Knowledge;
  readonly #tables: Tables;
  readonly #moved: MovedList[] = [];
  /** Each key once: if two rows want an address, one has it. */
  #written = new FrontendBatch(0);
  readonly #deleted = new Map<Binary, Buffer>();

  constructor(knowledge: Knowledge, tables: Tables) {
    this.#knowledge = knowledge;
    this.#tables = tables;
  }

  /** Returns how much is missing; in that case it reserves nothing. */
  plan(changes: readonly RowChange[]): Shortage | undefined {
    let missingSlots = 0;
    this.#written = new FrontendBatch(changes.length);
    for (const change of changes) missingSlots += this.#planRow(change);
    this.#replaceDeleted();
    const { frontendCount } = this.#knowledge;
    const frontends = frontendCount + this.#written.count - this.#tables.frontends.maxEntries;
    if (missingSlots === 0 && frontends <= 0) return undefined;
    this.#giveBackFresh();
    return { slots: missingSlots, frontends: Math.max(0, frontends) };
  }

  async write(): Promise<void> {
    const undo: Undo[] = [];
    try {
      await this.#writeSlots();
      const { frontends } = this.#tables;
      this.#written.mayExist.forEach((mayExist, index) => {
        const key = this.#written.key(index);
        if (mayExist) undo.push({ key, value: frontends.lookup(key) });
      });
      await this.#tables.writeFrontends(this.#written);
      for (const key of this.#deleted.values()) {
        undo.push({ key, value: frontends.lookup(key) });
        frontends.delete(key);
      }
    } catch (error) {
      this.#rollBack(undo);
      throw error;
    }
    this.#settle(undo);
  }

  /** An entry that moves between rows is overwritten: a rollback has a value to restore. */
  #replaceDeleted(): void {
    if (this.#deleted.size === 0) return;
    for (let i = 0; i < this.#written.count; i++) {
      if (this.#deleted.delete(this.#written.key(i).toString('latin1'))) {
        this.#written.mayExist[i] = true;
      }
    }
  }

  /** Gives how many slots are missing. */
  #planRow(change: RowChange): number {
    const { key, before, after } = change;
    const { lists, present, space } = this.#knowledge;
    const now = this.#entriesOf(after);
    const then = this.#entriesOf(knownRow(before));
    const old = lists.get(key);
    const endpoints = now?.sequence.endpoints ?? [];
    const stays = then && old && haveSameEndpoints(then.sequence.endpoints, endpoints);
    let first = old?.first ?? 0;
    if (!stays) {
      const fresh = endpoints.length === 0 ? undefined : space.take(endpoints.length);
      if (endpoints.length > 0 && fresh === undefined) return endpoints.length;
      first = fresh ?? 0;
      const range = fresh === undefined ? undefined : { first, length: endpoints.length };
      if (old || range) this.#moved.push({ key, old, fresh: range, endpoints });
    }
    const found = before === 'unknown' ? present.get(key) : undefined;
    for (const id of found ?? []) this.#deleted.set(id, Buffer.from(id, 'latin1'));
    const isFound = found !== undefined;
    this.#planFrontends({ then, now, first, stays: stays === true, isFound });
    return 0;
  }

  #planFrontends(planned: {
    readonly then: WrittenRow | undefined;
    readonly now: WrittenRow | undefined;
    readonly first: number;
    readonly stays: boolean;
    /** The kernel may have some of its frontends. */
    readonly isFound: boolean;
  }): void {
    const { then, now, first, stays, isFound } = planned;
    if (then !== undefined && then.served !== now?.served) this.#planDeletions(then, now);
    if (now === undefined) return;
    const { row, sequence } = now;
    const unchanged = stays && then ? new UnchangedFrontends(then, now) : undefined;
    for (const frontend of now.served) {
      if (unchanged?.has(frontend)) continue;
      this.#written.add({ row, frontend, sequence, first }, isFound || then !== undefined);
    }
  }

  #planDeletions({ row, served }: WrittenRow, now: WrittenRow | undefined): void {
    const kept = new Set(now?.served.map(frontendName));
    for (const frontend of served) {
      if (kept.has(frontendName(frontend))) continue;
      const key = frontendKeyOf(row, frontend);
      this.#deleted.set(key.toString('latin1'), key);
    }
  }

  #entriesOf(row: Forwarding | undefined): WrittenRow | undefined {
    if (row === undefined) return undefined;
    const served = servedFrontends(row);
    return { row, served, sequence: sequenceOf(row, served, this.#knowledge.podNetwork) };
  }

  async #writeSlots(): Promise<void> {
    const fresh = this.#moved.filter((each) => each.fresh !== undefined);
    const count = fresh.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
    if (count === 0) return;
    const draft = this.#tables.slotDraft(count);
    const { keys, values } = draft;
    const prints = new Uint32Array(count);
    let at = 0;
    for (const { fresh: range, old, endpoints } of fresh) {
      const counted = old && new CountedSlots(wordsOfSlots(this.#tables.readSlots(old)));
      for (let index = 0; index < endpoints.length; index++) {
        keys[at] = (range?.first ?? 0) + index;
        writeSlot(values, at * SLOT_WORDS, endpoints[index] as Endpoint);
        const print = slotPrint(values, at * SLOT_WORDS);
        prints[at] = print;
        counted?.copyTo(values, at * SLOT_WORDS, print);
        at += 1;
      }
    }
    await this.#tables.writeSlots(draft, count);
    const { slotPrints } = this.#knowledge;
    for (let index = 0; index < count; index++) {
      slotPrints[keys[index] as number] = prints[index] as number;
    }
  }

  #settle(undo: readonly Undo[]): void {
    const { lists, space } = this.#knowledge;
    for (const { key, value } of undo) {
      if (value) this.#knowledge.noteFrontend(entryPrint(key, value), -1);
    }
    const { keys, values, count } = this.#written;
    for (let index = 0; index < count; index++) {
      this.#knowledge.noteFrontend(frontendPrint(keys, values, this.#written.at(index)), 1);
    }
    for (const { key, old, fresh } of this.#moved) {
      if (old) space.giveBack(old);
      if (fresh) lists.set(key, fresh);
      else lists.delete(key);
    }
  }

  #rollBack(undo: readonly Undo[]): void {
    const { frontends } = this.#tables;
    this.#written.mayExist.forEach((mayExist, index) => {
      if (!mayExist) frontends.delete(this.#written.key(index));
    });
    for (const { key, value } of undo) {
      if (value) frontends.update(key, value);
      else frontends.delete(key);
    }
    // A frontend may have led there for a moment, and a program may have seen it.
    for (const { fresh } of this.#moved) if (fresh) this.#knowledge.space.giveBack(fresh);
  }

  #giveBackFresh(): void {
    for (const { fresh } of this.#moved) if (fresh) this.#knowledge.space.giveBackUnused(fresh);
  }
}

function haveSameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ address, port }, index) => address === b[index]?.address && port === b[index]?.port)
  );
}
