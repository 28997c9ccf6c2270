import { endpointKey } from '../../forwarding/endpoints.ts';
import type { Endpoint } from '../../forwarding/model.ts';
import type { InTurns } from '../../forwarding/turns.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { endpointValue, hostNumber } from '../shared/nft/element-keys.ts';
import type { RowElement } from './row-elements.ts';
import {
  AT_ONCE,
  LONGEST_SORTED_LIST,
  type Member,
  type SlotEdit,
  SlotOrder,
  sortedMembers,
} from './slot-order.ts';

/** The endpoints that all frontends of a service port share. */
export interface EndpointListParts {
  /** Its number in the maps (groups.ts). */
  readonly number: number;
  readonly endpoints: readonly Endpoint[];
  readonly isSticky: boolean;
}

/** Orders of long lists, by number; one that is not here is sorted. */
export type SlotOrders = Map<number, SlotOrder>;

/** Elements of a list that come, change under their key, and go. */
export interface ListChange {
  readonly added: readonly RowElement[];
  readonly replaced: readonly RowElement[];
  readonly deleted: readonly RowElement[];
  /** The kernel has it: so do the orders. */
  readonly settle: (orders: SlotOrders) => void;
}

/** Everything that the kernel should have of a list. */
export function* listElements(
  list: EndpointListParts,
  order?: SlotOrder,
): InTurns<readonly RowElement[]> {
  if (!order && !list.isSticky) return yield* plainElements(list);
  const members = order?.members ?? (yield* sortedMembers(list.endpoints, list.isSticky));
  return yield* memberElements(list, members.entries());
}

/** Nearly every list: no more objects than elements. */
function* plainElements({ number, endpoints }: EndpointListParts): InTurns<RowElement[]> {
  const list = hostNumber(number);
  const elements: RowElement[] = [];
  for (const endpoint of endpoints) {
    const key = list + hostNumber(elements.length);
    elements.push({ set: 'slots', key, value: endpointValue(endpoint) });
    if (elements.length % AT_ONCE === 0) yield AT_ONCE;
  }
  return elements;
}

function* memberElements(
  { number, isSticky }: Pick<EndpointListParts, 'number' | 'isSticky'>,
  members: Iterable<[slot: number, member: Member]>,
): InTurns<RowElement[]> {
  const elements: RowElement[] = [];
  const list = hostNumber(number);
  for (const [slot, { value, id }] of members) {
    const key = list + hostNumber(slot);
    elements.push({ set: 'slots', key, value });
    if (slot % AT_ONCE === 0) yield AT_ONCE;
    if (!isSticky) continue;
    const member = hostNumber(id);
    elements.push({ set: 'sticky-slots', key, value: member });
    elements.push({ set: 'sticky-endpoints', key: list + member, value });
  }
  return elements;
}

/** The change from one state of a list to another: only the elements that differ. */
export function* changeList(
  before: EndpointListParts | undefined,
  after: EndpointListParts | undefined,
  orders: SlotOrders,
): InTurns<ListChange> {
  if (!before) return yield* addList(after);
  if (!after) return yield* removeList(before, orders);
  const isLong = after.endpoints.length > LONGEST_SORTED_LIST;
  if (before.isSticky !== after.isSticky || !isLong)
    return yield* rewriteList(before, after, orders);
  const { removed, added } = endpointsBetween(before.endpoints, after.endpoints);
  if (removed.length === 0 && added.length === 0) return NO_CHANGE;
  const order =
    orders.get(before.number) ?? (yield* SlotOrder.sorted(before.endpoints, before.isSticky));
  const edit = order.edit(removed, added);
  const settle = (settled: SlotOrders) => {
    order.apply(edit);
    settled.set(after.number, order);
  };
  return { ...(yield* editedElements(before, order, edit)), settle };
}

const NOTHING: readonly RowElement[] = [];
const NO_CHANGE: ListChange = {
  added: NOTHING,
  replaced: NOTHING,
  deleted: NOTHING,
  settle: () => undefined,
};

function* addList(list: EndpointListParts | undefined): InTurns<ListChange> {
  return list ? { ...NO_CHANGE, added: yield* listElements(list) } : NO_CHANGE;
}

function* removeList(list: EndpointListParts, orders: SlotOrders): InTurns<ListChange> {
  const deleted = yield* listElements(list, orders.get(list.number));
  return { ...NO_CHANGE, deleted, settle: (settled) => settled.delete(list.number) };
}

/** Slot by slot. The list is short, or everything about it changes. */
function* rewriteList(
  before: EndpointListParts,
  after: EndpointListParts,
  orders: SlotOrders,
): InTurns<ListChange> {
  const order = orders.get(before.number);
  if (!order && before.endpoints === after.endpoints && before.isSticky === after.isSticky) {
    return NO_CHANGE;
  }
  const old = yield* listElements(before, order);
  const settle = (settled: SlotOrders) => settled.delete(before.number);
  return { ...elementsBetween(old, yield* listElements(after)), settle };
}

/** By set and key. */
export function elementsBetween(
  before: readonly RowElement[],
  after: readonly RowElement[],
): Omit<ListChange, 'settle'> {
  if (before.length === 0) return { added: after, replaced: NOTHING, deleted: NOTHING };
  if (after.length === 0) return { added: NOTHING, replaced: NOTHING, deleted: before };
  const old = new Map<string, RowElement>();
  for (const element of before) old.set(element.set + element.key, element);
  const added: RowElement[] = [];
  const replaced: RowElement[] = [];
  for (const element of after) {
    const id = element.set + element.key;
    const known = old.get(id);
    old.delete(id);
    if (!known) added.push(element);
    else if (known.value !== element.value) replaced.push(element);
  }
  return { added, replaced, deleted: [...old.values()] };
}

/** The difference of two sorted lists: walks both, and allocates nothing for what is in both. */
export function endpointsBetween(
  before: readonly Endpoint[],
  after: readonly Endpoint[],
  isEqual = hasSameAddress,
): { removed: Endpoint[]; added: Endpoint[] } {
  const removed: Endpoint[] = [];
  const added: Endpoint[] = [];
  if (before === after) return { removed, added };
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old && now && (old === now || isEqual(old, now))) {
      i++;
      j++;
    } else if (old && (!now || endpointKey(old) < endpointKey(now))) {
      removed.push(old);
      i++;
    } else if (now) {
      added.push(now);
      j++;
    }
  }
  return { removed, added };
}

function hasSameAddress(a: Endpoint, b: Endpoint): boolean {
  return a.address === b.address && a.port === b.port;
}

function* editedElements(
  list: EndpointListParts,
  order: SlotOrder,
  { put, length }: SlotEdit,
): InTurns<Omit<ListChange, 'settle'>> {
  const { members } = order;
  const gone = [...put.keys()].filter((slot) => slot < members.length);
  for (let slot = length; slot < members.length; slot++) gone.push(slot);
  const old = gone.map((slot): [number, Member] => [slot, members[slot] as Member]);
  return elementsBetween(yield* memberElements(list, old), yield* memberElements(list, put));
}

/**
 * The bytes of an endpoint in a slot, as the kernel reported them; undefined: the slot is empty.
 */
export type HeldValue = (set: 'slots' | 'sticky-slots', key: Binary) => Binary | undefined;

/**
 * The order in which the kernel has a long list. Slots that hold none of its endpoints, or one that
 * another slot has, go to those that are missing. Undefined: it is sorted, because it is short or the
 * kernel has none of it.
 */
export function* adoptOrder(
  list: EndpointListParts,
  held: HeldValue,
): InTurns<SlotOrder | undefined> {
  const { number, endpoints, isSticky } = list;
  if (endpoints.length <= LONGEST_SORTED_LIST) return undefined;
  const sorted = yield* sortedMembers(endpoints, isSticky);
  const missing = new Map(sorted.map((member) => [member.value, member]));
  const places: (Member | undefined)[] = [];
  while (places.length < sorted.length) {
    const key = hostNumber(number) + hostNumber(places.length);
    const member = missing.get(held('slots', key) ?? '');
    if (member) missing.delete(member.value);
    places.push(member);
    if (places.length % AT_ONCE === 0) yield AT_ONCE;
  }
  if (missing.size === sorted.length) return undefined;
  const rest = missing.values();
  const members = places.map((member) => member ?? (rest.next().value as Member));
  return new SlotOrder(members, isSticky);
}

/** The orders of lists of which the kernel has these elements. */
export function* adoptOrders(
  lists: readonly EndpointListParts[],
  elements: readonly RowElement[],
): InTurns<SlotOrders> {
  const orders: SlotOrders = new Map();
  if (lists.every(({ endpoints }) => endpoints.length <= LONGEST_SORTED_LIST)) return orders;
  const values = new Map(elements.map(({ set, key, value }) => [set + key, value]));
  for (const list of lists) {
    const order = yield* adoptOrder(list, (set, key) => values.get(set + key));
    if (order) orders.set(list.number, order);
  }
  return orders;
}
