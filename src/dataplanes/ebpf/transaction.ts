import type { Endpoint, Forwarding, Frontend, ServicePortKey } from '../../forwarding/model.ts';
import type { Change } from '../../forwarding/table.ts';
import { frontendPrint, slotPrint } from './fingerprint.ts';
import type { Binary, Knowledge } from './knowledge.ts';
import { SLOT } from './layout.ts';
import {
  frontendKeyOf,
  frontendValueOf,
  type Sequence,
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

interface WrittenFrontend {
  readonly key: Buffer;
  readonly value: Buffer;
  /** Whether the kernel may have something under this key. */
  readonly mayExist: boolean;
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
  readonly #written: WrittenFrontend[] = [];
  readonly #deleted = new Map<Binary, Buffer>();

  constructor(knowledge: Knowledge, tables: Tables) {
    this.#knowledge = knowledge;
    this.#tables = tables;
  }

  /** Gives how much is missing, and then holds nothing. */
  plan(changes: readonly Change[]): Shortage | undefined {
    let missingSlots = 0;
    for (const change of changes) missingSlots += this.#planRow(change);
    if (this.#deleted.size > 0) {
      for (const { key } of this.#written) this.#deleted.delete(key.toString('latin1'));
    }
    const { frontendCount } = this.#knowledge;
    const frontends = frontendCount + this.#written.length - this.#tables.frontends.maxEntries;
    if (missingSlots === 0 && frontends <= 0) return undefined;
    this.#giveBackFresh();
    return { slots: missingSlots, frontends: Math.max(0, frontends) };
  }

  async write(): Promise<void> {
    const undo: Undo[] = [];
    try {
      await this.#writeSlots();
      const { frontends } = this.#tables;
      for (const { key, mayExist } of this.#written) {
        if (mayExist) undo.push({ key, value: frontends.lookup(key) });
      }
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

  /** Gives how many slots are missing. */
  #planRow({ key, before, after }: Change): number {
    const { lists, present, space } = this.#knowledge;
    const served = servedFrontends(after);
    const sequence = after && sequenceOf(after, served);
    const old = lists.get(key);
    this.#planDeletions(before, present.get(key) ?? []);
    const known = before && old && { row: before, served: servedFrontends(before) };
    const sequenceBefore = known && sequenceOf(known.row, known.served);
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
      this.#planFrontend({ row: after, frontend, sequence, first }, { mayExist, then });
    }
    return 0;
  }

  #planFrontend(
    of: { row: Forwarding; frontend: Frontend; sequence: Sequence; first: number },
    was: {
      readonly mayExist: boolean;
      readonly then:
        | { row: Forwarding; served: readonly Frontend[]; sequence: Sequence; first: number }
        | undefined;
    },
  ): void {
    const key = frontendKeyOf(of.row, of.frontend);
    const value = frontendValueOf(key, of);
    const old = was.then?.served.find(
      ({ address, port }) => address === of.frontend.address && port === of.frontend.port,
    );
    const isSame =
      was.then && old && frontendValueOf(key, { ...was.then, frontend: old }).equals(value);
    if (isSame) this.#deleted.delete(key.toString('latin1'));
    else this.#written.push({ key, value, mayExist: was.mayExist });
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
    const keys = Buffer.allocUnsafe(count * 4);
    const values = Buffer.allocUnsafe(count * SLOT.bytes);
    let at = 0;
    for (const { fresh: range, old, endpoints } of fresh) {
      const counted = old && this.#tables.connectionsIn(old);
      endpoints.forEach((endpoint, index) => {
        keys.writeUInt32LE((range?.first ?? 0) + index, at * 4);
        const place = at * SLOT.bytes;
        writeSlot(values, place, endpoint);
        const connections = counted?.get(endpointBytes(values, place));
        if (connections) values.writeBigUInt64LE(connections, place + SLOT.connections);
        at += 1;
      });
    }
    await this.#tables.writeSlots(keys, values, count);
    const { slotPrints } = this.#knowledge;
    for (let index = 0; index < count; index++) {
      slotPrints[keys.readUInt32LE(index * 4)] = slotPrint(values, index * SLOT.bytes);
    }
  }

  #settle(undo: readonly Undo[]): void {
    const { lists, space } = this.#knowledge;
    for (const { key, value } of undo) {
      if (value) this.#knowledge.noteFrontend(frontendPrint(key, value), -1);
    }
    for (const { key, value } of this.#written) {
      this.#knowledge.noteFrontend(frontendPrint(key, value), 1);
    }
    for (const { key, old, fresh } of this.#moved) {
      if (old) space.giveBack(old);
      if (fresh) lists.set(key, fresh);
      else lists.delete(key);
    }
  }

  #takeBack(undo: readonly Undo[]): void {
    const { frontends } = this.#tables;
    for (const { key, mayExist } of this.#written) if (!mayExist) frontends.delete(key);
    for (const { key, value } of undo) {
      if (value) frontends.update(key, value);
      else frontends.delete(key);
    }
    this.#giveBackFresh();
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
