import type { Endpoint } from '../../forwarding/model.ts';
import type { InTurns } from '../../forwarding/turns.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { endpointValue } from '../shared/nft/element-keys.ts';
import { memberId, memberIds } from './numbers.ts';

/**
 * Up to this many endpoints, slots follow the order of the list, which is sorted: the same cluster
 * gives the same table. In a longer list an endpoint keeps its slot for as long as it can, or one
 * that goes would move all those behind it.
 */
export const LONGEST_SORTED_LIST = 64;

/** The endpoint in a slot. */
export interface Member {
  readonly value: Binary;
  /** The value stored for clients; 0 in a list without affinity. */
  readonly id: number;
}

/** The new slots of a list, with unchanged endpoints in their old slots. */
export interface SlotEdit {
  /** Slot to its new member; one past the end of the list is added. */
  readonly put: ReadonlyMap<number, Member>;
  /** How many slots there are afterwards. */
  readonly length: number;
}

/** The slots of one list of endpoints. */
export class SlotOrder {
  readonly #members: Member[];
  readonly #slots = new Map<Binary, number>();
  readonly #isSticky: boolean;

  constructor(members: Iterable<Member>, isSticky: boolean) {
    this.#members = [...members];
    this.#isSticky = isSticky;
    for (const [slot, { value }] of this.#members.entries()) this.#slots.set(value, slot);
  }

  /** The slots of a list that was never changed. */
  static *sorted(endpoints: readonly Endpoint[], isSticky: boolean): InTurns<SlotOrder> {
    return new SlotOrder(yield* sortedMembers(endpoints, isSticky), isSticky);
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  get isSticky(): boolean {
    return this.#isSticky;
  }

  /** Newcomers take the places of those that go; if more go than come, the last fill the gaps. */
  edit(removed: readonly Endpoint[], added: readonly Endpoint[]): SlotEdit {
    const put = new Map<number, Member>();
    const gaps = removed
      .flatMap((endpoint) => this.#slots.get(endpointValue(endpoint)) ?? [])
      .sort((a, b) => a - b);
    const newcomers = this.#newcomers(added);
    const length = this.#members.length - gaps.length + newcomers.length;
    let end = this.#members.length;
    for (const [index, member] of newcomers.entries()) put.set(gaps[index] ?? end++, member);
    const open = gaps.slice(newcomers.length);
    const isOpen = new Set(open);
    let last = this.#members.length - 1;
    for (const gap of open) {
      while (isOpen.has(last)) last--;
      if (gap >= length || gap > last) break;
      put.set(gap, this.#members[last--] as Member);
    }
    return { put, length };
  }

  apply({ put, length }: SlotEdit): void {
    const old = [...put.keys()].flatMap((slot) => this.#members[slot]?.value ?? []);
    for (const { value } of this.#members.slice(length)) old.push(value);
    for (const value of old) this.#slots.delete(value);
    for (const [slot, member] of [...put].sort(([a], [b]) => a - b)) this.#members[slot] = member;
    this.#members.length = length;
    for (const [slot, { value }] of put) this.#slots.set(value, slot);
  }

  #newcomers(added: readonly Endpoint[]): Member[] {
    if (!this.#isSticky) return added.map((each) => ({ value: endpointValue(each), id: 0 }));
    const taken = new Set(this.#members.map(({ id }) => id));
    return added.map((endpoint) => {
      const id = memberId(endpoint, taken);
      taken.add(id);
      return { value: endpointValue(endpoint), id };
    });
  }
}

export function* sortedMembers(
  endpoints: readonly Endpoint[],
  isSticky: boolean,
): InTurns<Member[]> {
  const ids = isSticky ? memberIds(endpoints) : undefined;
  const members: Member[] = [];
  for (const endpoint of endpoints) {
    members.push({ value: endpointValue(endpoint), id: ids?.[members.length] ?? 0 });
    if (members.length % AT_ONCE === 0) yield AT_ONCE;
  }
  return members;
}

/** Endpoints between two points at which the work may be paused. */
export const AT_ONCE = 1024;
