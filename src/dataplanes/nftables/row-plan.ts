import type { Endpoint, Forwarding, ServicePortKey } from '../../forwarding/model.ts';
import { type InTurns, toEnd } from '../../forwarding/turns.ts';
import type { Class } from './classes.ts';
import {
  adoptOrders,
  changeList,
  type EndpointListParts,
  elementsBetween,
  endpointsBetween,
  type ListChange,
  listElements,
  type SlotOrders,
} from './endpoint-list.ts';
import { listNumber } from './groups.ts';
import { endpointPartsOf, partsInTurns, type RowParts, type SourceList } from './nftables-row.ts';
import { ROW_SETS, type RowSet } from './nftables-sets.ts';
import type { Transaction } from './nftables-transaction.ts';
import type { RowElement, SharedElement } from './row-elements.ts';
import type { RowNumbers } from './row-numbers.ts';
import { rangeElements } from './source-ranges.ts';
import type { TableState } from './state.ts';

/** Operations of one kind, done one after the other. */
export type Step =
  | { readonly do: 'need'; readonly classes: readonly Class[] }
  | { readonly do: 'add' | 'replace' | 'delete'; readonly elements: readonly RowElement[] }
  | { readonly do: 'want' | 'unwant'; readonly elements: readonly SharedElement[] };

/**
 * The changes from one state of a row to another, in an order in which they can be applied in
 * parts: an element is written before those that refer to it, and removed after them. A packet in
 * between goes to the old endpoints or the new ones.
 */
export interface RowPlan {
  readonly steps: readonly Step[];
  /** Lists of source ranges that the row begins or ends to use. */
  readonly sources: { readonly held?: SourceList; readonly released?: SourceList };
  /** The kernel has all of it: so do the orders of long lists. */
  readonly settle: (orders: SlotOrders) => void;
}

/** What the kernel has of a row that is not as it should be. */
export interface Present {
  readonly elements: readonly RowElement[];
  readonly shared: readonly SharedElement[];
  readonly sources?: SourceList;
}

interface Circumstances {
  readonly numbers: RowNumbers;
  readonly orders: SlotOrders;
  readonly state: TableState;
}

/** From a row that the kernel has as it is. */
export function* planChange(
  before: Forwarding | undefined,
  after: Forwarding | undefined,
  circumstances: Circumstances,
): InTurns<RowPlan> {
  const [old, now] = yield* partsOfBoth(before, after, circumstances.numbers);
  const lists = yield* changeLists(old?.lists ?? [], now?.lists ?? [], circumstances.orders);
  const elements = elementsBetween(old?.elements ?? [], now?.elements ?? []);
  return planOf({
    changes: [elements, ...lists],
    shared: { before: old?.shared ?? [], after: now?.shared ?? [] },
    sources: { before: old?.sources, after: now?.sources },
    classes: now?.classes ?? [],
    state: circumstances.state,
    settle: (orders) => {
      for (const list of lists) list.settle(orders);
    },
  });
}

/** What is in both of them may be left out. */
function* partsOfBoth(
  before: Forwarding | undefined,
  after: Forwarding | undefined,
  numbers: RowNumbers,
): InTurns<[RowParts | undefined, RowParts | undefined]> {
  const isSameFront = before && after && before.frontends === after.frontends;
  if (!isSameFront) {
    const old = before && (yield* partsInTurns(before, numbers));
    return [old, after && (yield* partsInTurns(after, numbers))];
  }
  const moved = movedAddresses(before, after);
  return [endpointPartsOf(before, numbers, moved), endpointPartsOf(after, numbers, moved)];
}

/** Also whether it is on this node, which the slots of a list do not tell. */
function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.address === b.address && a.port === b.port && a.local === b.local;
}

/** The addresses of endpoints that only one of two rows has: few, however long the lists are. */
function movedAddresses(before: Forwarding, after: Forwarding): ReadonlySet<string> {
  const moved = new Set<string>();
  for (const list of ['clusterEndpoints', 'localEndpoints'] as const) {
    const { removed, added } = endpointsBetween(before[list], after[list], isSame);
    for (const { address } of removed) moved.add(address);
    for (const { address } of added) moved.add(address);
  }
  return moved;
}

/**
 * From what was found of a row. The known orders of its lists are those of the endpoints that it had
 * then; others may be desired by now, so the orders follow from what was found.
 */
export function* planRepair(
  present: Present,
  after: Forwarding | undefined,
  circumstances: Circumstances & { readonly key: ServicePortKey },
): InTurns<RowPlan> {
  const now = yield* partsInTurns(after, circumstances.numbers);
  const orders = yield* adoptOrders(now.lists, present.elements);
  return planOf({
    changes: [elementsBetween(present.elements, yield* elementsInTurns(now, orders))],
    shared: { before: present.shared, after: now.shared },
    sources: { before: present.sources, after: now.sources },
    classes: now.classes,
    state: circumstances.state,
    settle: (known) => {
      const row = circumstances.numbers.rows.of(circumstances.key);
      for (const list of ['cluster', 'local'] as const) known.delete(listNumber(row, list));
      for (const [number, order] of orders) known.set(number, order);
    },
  });
}

export function allElements(parts: RowParts, orders: SlotOrders): readonly RowElement[] {
  return toEnd(elementsInTurns(parts, orders));
}

/** The same, with pauses between endpoints. */
export function* elementsInTurns(
  parts: RowParts,
  orders: SlotOrders,
): InTurns<readonly RowElement[]> {
  let all = parts.elements;
  for (const list of parts.lists) {
    all = all.concat(yield* listElements(list, orders.get(list.number)));
  }
  return all;
}

function* changeLists(
  before: readonly EndpointListParts[],
  after: readonly EndpointListParts[],
  orders: SlotOrders,
): InTurns<ListChange[]> {
  const numbers = new Set([...before, ...after].map(({ number }) => number));
  const partsOfList = (lists: readonly EndpointListParts[], number: number) =>
    lists.find((list) => list.number === number);
  const changes: ListChange[] = [];
  for (const number of numbers) {
    changes.push(
      yield* changeList(partsOfList(before, number), partsOfList(after, number), orders),
    );
  }
  return changes;
}

function planOf(planned: {
  readonly changes: readonly Omit<ListChange, 'settle'>[];
  readonly shared: { before: readonly SharedElement[]; after: readonly SharedElement[] };
  readonly sources: { before: SourceList | undefined; after: SourceList | undefined };
  readonly classes: readonly Class[];
  readonly state: TableState;
  readonly settle: (orders: SlotOrders) => void;
}): RowPlan {
  const { changes, classes, state, settle } = planned;
  const sources = sourcesBetween(planned.sources.before, planned.sources.after);
  const shared = sharedBetween(planned.shared.before, planned.shared.after);
  const users = (list: SourceList) => state.sourceLists.get(list.number) ?? 0;
  const { held, released } = sources;
  const newRanges = held && users(held) === 0 ? rangeElements(held) : [];
  const oldRanges = released && users(released) <= 1 ? rangeElements(released) : [];
  const steps: Step[] = [
    { do: 'need', classes },
    { do: 'want', elements: shared.added },
    { do: 'want', elements: newRanges },
    ...elementSteps(changes),
    { do: 'unwant', elements: shared.removed },
    { do: 'unwant', elements: oldRanges },
  ];
  return { steps: steps.filter((step) => lengthOf(step) > 0), sources, settle };
}

function elementSteps(changes: readonly Omit<ListChange, 'settle'>[]): Step[] {
  if (isSmallAndNew(changes)) return newRowSteps(changes);
  const added = bySet(changes, 'added');
  const replaced = bySet(changes, 'replaced');
  const deleted = bySet(changes, 'deleted');
  const steps: Step[] = [];
  for (const set of BACK_TO_FRONT) {
    const [fresh, other] = [added.get(set), replaced.get(set)];
    if (fresh) steps.push({ do: 'add', elements: fresh });
    if (other) steps.push({ do: 'replace', elements: other });
  }
  for (const set of ROW_SETS) {
    const old = deleted.get(set);
    if (old) steps.push({ do: 'delete', elements: old });
  }
  return steps;
}

/** Never more than one transaction holds, so that the order of its elements does not matter. */
const SMALL_ROW = 1000;

function isSmallAndNew(changes: readonly Omit<ListChange, 'settle'>[]): boolean {
  let count = 0;
  for (const { added, replaced, deleted } of changes) {
    if (replaced.length + deleted.length > 0) return false;
    count += added.length;
  }
  return count <= SMALL_ROW;
}

/** Nearly every row of a first start: no lists by set. */
function newRowSteps(changes: readonly Omit<ListChange, 'settle'>[]): Step[] {
  const steps: Step[] = [];
  for (const { added } of changes.toReversed()) {
    if (added.length > 0) steps.push({ do: 'add', elements: added });
  }
  return steps;
}

const BACK_TO_FRONT = ROW_SETS.toReversed();

function bySet(
  changes: readonly Omit<ListChange, 'settle'>[],
  kind: 'added' | 'replaced' | 'deleted',
): Map<RowSet, RowElement[]> {
  const groups = new Map<RowSet, RowElement[]>();
  for (const change of changes) {
    for (const element of change[kind]) {
      const group = groups.get(element.set);
      if (group) group.push(element);
      else groups.set(element.set, [element]);
    }
  }
  return groups;
}

function sourcesBetween(
  before: SourceList | undefined,
  after: SourceList | undefined,
): RowPlan['sources'] {
  if (before?.number === after?.number) return {};
  return {
    ...(after === undefined ? {} : { held: after }),
    ...(before === undefined ? {} : { released: before }),
  };
}

function sharedBetween(
  before: readonly SharedElement[],
  after: readonly SharedElement[],
): { added: SharedElement[]; removed: SharedElement[] } {
  const id = ({ set, key }: SharedElement) => set + key;
  const old = new Map(before.map((element) => [id(element), element]));
  const added = after.filter((element) => !old.delete(id(element)));
  return { added, removed: [...old.values()] };
}

export function lengthOf(step: Step): number {
  return step.do === 'need' ? step.classes.length : step.elements.length;
}

/** Adds a step, or a part of it, to the transaction. */
export function perform(step: Step, owner: string, transaction: Transaction): void {
  switch (step.do) {
    case 'need':
      transaction.need(owner, step.classes);
      break;
    case 'want':
    case 'unwant':
      transaction.want(owner, step.elements, step.do === 'want' ? 1 : -1);
      break;
    default:
      transaction[step.do](owner, step.elements);
  }
}
