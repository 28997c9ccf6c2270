import type { Endpoint, Forwarding, Frontend, ServicePortKey } from '../../../forwarding/model.ts';
import type { Change } from '../../../forwarding/table.ts';
import type { Binary } from './binary.ts';
import { entryPrint, frontendPrint, slotPrint } from './fingerprint.ts';
import { FrontendBatch } from './frontend-batch.ts';
import type { Knowledge } from './knowledge.ts';
import { bytesOf, SLOT, wordsIn } from './layout.ts';
import {
  type EntrySource,
  frontendKeyOf,
  frontendValueOf,
  sequenceOf,
  servedFrontends,
  writeSlot,
} from './row.ts';
import type { SlotRange } from './slot-space.ts';
import { endpointBytes, type Tables } from './tables.ts';

interface MovedList {
  readonly key: ServicePortKey;
  readonly old: SlotRange | undefined;
  /** Undefined: the row has no endpoints any more. */
  readonly fresh: SlotRange | undefined;
  readonly endpoints: readonly Endpoint[];
}

const SLOT_WORDS = wordsIn(SLOT);

/** What a row was before, where its endpoints stay where they are. */
interface Then extends Omit<EntrySource, 'frontend'> {
  readonly served: readonly Frontend[];
}

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
 * The changes of some rows. Endpoints are written where nobody looks, then each frontend is led
 * there by one write, so that a program sees the old list or the new one. What is refused half way
 * is taken back.
 */
export class Transaction {
  readonly #knowledge: Knowledge;
  readonly #tables: Tables;
  readonly #moved: MovedList[] = [];
  /** Each key once: of two rows that want an address one has it. */
  #written = new FrontendBatch(0);
  readonly #deleted = new Map<Binary, Buffer>();

  constructor(knowledge: Knowledge, tables: Tables) {
    this.#knowledge = knowledge;
    this.#tables = tables;
  }

  /** Gives how much is missing, and then holds nothing. */
  plan(changes: readonly Change[]): Shortage | undefined {
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
      this.#takeBack(undo);
      throw error;
    }
    this.#settle(undo);
  }

  /** What one row gives up and another takes is written over: there is something to put back. */
  #replaceDeleted(): void {
    if (this.#deleted.size === 0) return;
    for (let i = 0; i < this.#written.count; i++) {
      if (this.#deleted.delete(this.#written.key(i).toString('latin1'))) {
        this.#written.mayExist[i] = true;
      }
    }
  }

  /** Gives how many slots are missing. */
  #planRow({ key, before, after }: Change): number {
    const { lists, present, space, podNetwork } = this.#knowledge;
    const served = servedFrontends(after);
    const sequence = after && sequenceOf(after, served, podNetwork);
    const old = lists.get(key);
    this.#planDeletions(before, present.get(key) ?? []);
    const known = before && old && { row: before, served: servedFrontends(before) };
    const sequenceBefore = known && sequenceOf(known.row, known.served, podNetwork);
    const endpoints = sequence?.endpoints ?? [];
    const stays = sequenceBefore && haveSameEndpoints(sequenceBefore.endpoints, endpoints);
    let first = old?.first ?? 0;
    if (!stays) {
      const fresh = endpoints.length === 0 ? undefined : space.take(endpoints.length);
      if (endpoints.length > 0 && fresh === undefined) return endpoints.length;
      first = fresh ?? 0;
      const range = fresh === undefined ? undefined : { first, length: endpoints.length };
      if (old || range) this.#moved.push({ key, old, fresh: range, endpoints });
    }
    if (!after || !sequence) return 0;
    const mayExist = before !== undefined || present.has(key);
    const then = stays && known ? { ...known, sequence: sequenceBefore, first } : undefined;
    for (const frontend of served) {
      const entry = { row: after, frontend, sequence, first };
      if (then === undefined || !this.#isThere(entry, then)) this.#written.add(entry, mayExist);
    }
    return 0;
  }

  /** Whether the frontend was the same before; then it is not deleted either. */
  #isThere(entry: EntrySource, then: Then): boolean {
    const { address, port } = entry.frontend;
    const frontend = then.served.find((each) => each.address === address && each.port === port);
    if (frontend === undefined) return false;
    if (!frontendValueOf({ ...then, frontend }).equals(frontendValueOf(entry))) return false;
    const key = frontendKeyOf(entry.row, entry.frontend);
    return this.#deleted.delete(key.toString('latin1'));
  }

  #planDeletions(before: Forwarding | undefined, present: readonly Binary[]): void {
    if (before) {
      for (const frontend of servedFrontends(before)) {
        const key = frontendKeyOf(before, frontend);
        this.#deleted.set(key.toString('latin1'), key);
      }
    }
    for (const id of present) this.#deleted.set(id, Buffer.from(id, 'latin1'));
  }

  async #writeSlots(): Promise<void> {
    const fresh = this.#moved.filter((each) => each.fresh !== undefined);
    const count = fresh.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
    if (count === 0) return;
    const draft = this.#tables.slotDraft(count);
    const { keys, values } = draft;
    const bytes = bytesOf(values);
    let at = 0;
    for (const { fresh: range, old, endpoints } of fresh) {
      const counted = old && this.#tables.connectionsIn(old);
      for (let index = 0; index < endpoints.length; index++) {
        keys[at] = (range?.first ?? 0) + index;
        writeSlot(values, at * SLOT_WORDS, endpoints[index] as Endpoint);
        const connections = counted?.get(endpointBytes(bytes, at * SLOT.bytes));
        if (connections) bytes.writeBigUInt64LE(connections, at * SLOT.bytes + SLOT.connections);
        at += 1;
      }
    }
    await this.#tables.writeSlots(draft, count);
    const { slotPrints } = this.#knowledge;
    for (let index = 0; index < count; index++) {
      slotPrints[keys[index] as number] = slotPrint(values, index * SLOT_WORDS);
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

  #takeBack(undo: readonly Undo[]): void {
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
