import { type Forwarding, servicePortKey, servicePortName } from '../../forwarding/model.ts';
import type { InTurns } from '../../forwarding/turns.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { Difference } from '../contract.ts';
import type { Differences } from '../differences.ts';
import { frontendKey, nodePortKey } from '../shared/nft/element-keys.ts';
import { hostNumberOf, valueTextOf } from '../shared/nft/element-text.ts';
import { type Class, classPlace } from './classes.ts';
import { elementName } from './element-name.ts';
import type { ElementView } from './element-view.ts';
import { adoptOrder, type SlotOrders } from './endpoint-list.ts';
import { rowOfGroup } from './groups.ts';
import { partsInTurns, type RowParts, type SourceList } from './nftables-row.ts';
import { frontendMap, setSpec } from './nftables-sets.ts';
import type { Held, ManagedSet, RowElement, SharedElement } from './row-elements.ts';
import type { RowNumbers } from './row-numbers.ts';
import { allElements, elementsInTurns, type Present } from './row-plan.ts';
import { AT_ONCE } from './slot-order.ts';
import { rangeElements } from './source-ranges.ts';

/** A row compared with what the kernel has of it. */
export interface ComparedRow {
  readonly parts: RowParts;
  /** Set when the row is not as it should be: what the kernel has of it. */
  readonly present?: Present;
  /**
   * Source ranges that are not there, by their keys. Only of the first row that uses the
   * list: a Service with many ports has one list for all of them.
   */
  readonly missingRanges?: ReadonlySet<Binary>;
}

/** Compares the rows of one table with the elements of the kernel. */
export class Comparison {
  readonly #family: TableFamily;
  readonly #view: ElementView;
  readonly #numbers: RowNumbers;
  readonly #orders: SlotOrders;
  readonly #differences: Differences;
  readonly #classes = new Map<string, Class>();
  /** For each list of source ranges, whether all of it is there: many rows may use it. */
  readonly #isListed = new Map<number, boolean>();

  constructor(parts: {
    readonly family: TableFamily;
    readonly view: ElementView;
    readonly numbers: RowNumbers;
    readonly orders: SlotOrders;
    readonly differences: Differences;
  }) {
    this.#family = parts.family;
    this.#view = parts.view;
    this.#numbers = parts.numbers;
    this.#orders = parts.orders;
    this.#differences = parts.differences;
  }

  /** Classes of all rows that were compared. */
  get classes(): Class[] {
    return [...this.#classes.values()];
  }

  /** With pauses between endpoints. */
  *compare(row: Forwarding): InTurns<ComparedRow> {
    this.#adoptNumber(row);
    const parts = yield* partsInTurns(row, this.#numbers);
    for (const each of parts.classes) {
      this.#classes.set(classPlace(each), each);
    }
    if (this.#view.isEmpty) return this.#missingRow(parts, row);
    yield* this.#adoptOrders(parts);
    const all = yield* elementsInTurns(parts, this.#orders);
    const elements = yield* this.#compareElements(all, row);
    const shared = this.#compareShared(parts, row);
    const { isListed, ...ranges } = this.#compareRanges(parts.sources, row);
    if (!elements && !shared && isListed) return { parts, ...ranges };
    const sources = isListed && parts.sources ? { sources: parts.sources } : {};
    const present = { elements: elements ?? all, shared: shared ?? parts.shared, ...sources };
    return { parts, present, ...ranges };
  }

  /**
   * The kernel is empty: count what is missing, and describe it only while descriptions are kept.
   */
  #missingRow(parts: RowParts, row: Forwarding): ComparedRow {
    if (this.#differences.isFull) {
      this.#differences.count += elementCount(parts) + parts.shared.length;
    } else {
      const all = [...allElements(parts, this.#orders), ...parts.shared];
      for (const element of all) this.#differ('missing', element, row);
    }
    const { isListed, ...ranges } = this.#compareRanges(parts.sources, row);
    const sources = isListed && parts.sources ? { sources: parts.sources } : {};
    return { parts, present: { elements: [], shared: [], ...sources }, ...ranges };
  }

  /** An earlier process may have met two names with one number in another order. */
  #adoptNumber(row: Forwarding): void {
    const name = servicePortKey(row.id);
    if (this.#numbers.rows.has(name)) return;
    for (const { kind, address, port, notServed } of row.frontends) {
      if (notServed !== undefined) continue;
      const isNodePort = kind === 'node-port';
      const { protocol } = row.id;
      const key = isNodePort ? nodePortKey(protocol, port) : frontendKey(address, protocol, port);
      const group = this.#view.value(frontendMap(isNodePort ? 'nodeport' : 'service'), key);
      if (group === undefined) continue;
      this.#numbers.rows.adopt(name, rowOfGroup(hostNumberOf(group)));
      return;
    }
  }

  /** In a long list, endpoints are where they were put when they came. */
  *#adoptOrders({ lists }: RowParts): InTurns<void> {
    if (!this.#view.isWhole) return;
    for (const list of lists) {
      const order = yield* adoptOrder(list, (set, key) => this.#view.value(set, key));
      if (order) this.#orders.set(list.number, order);
    }
  }

  /** Counts leftovers of no row, without changing them. */
  noteLeftovers(): void {
    for (const leftover of this.#view.leftovers()) this.#differ('foreign', leftover);
  }

  /** Leftovers of no row; call it when every row was compared. */
  *leftovers() {
    for (const leftover of this.#view.leftovers()) {
      this.#differ('foreign', leftover);
      yield leftover;
    }
  }

  /** Undefined: all are there. The usual case makes no list. */
  *#compareElements(
    elements: readonly RowElement[],
    row: Forwarding,
  ): InTurns<RowElement[] | undefined> {
    let present: RowElement[] | undefined;
    // At a first start this is done for every element of every row: no object for each.
    for (let index = 0; index < elements.length; index++) {
      const element = elements[index] as RowElement;
      if (index % AT_ONCE === 0 && index > 0) yield AT_ONCE;
      const held = this.#view.held(element.set, element);
      const isRight = isSame(held, element.value);
      if (!isRight) {
        const found = this.#differences.isFull ? element : { ...element, held };
        this.#differ(held ? 'different' : 'missing', found, row);
        present ??= elements.slice(0, index);
      }
      if (present && held) present.push(isRight ? element : withValue(element, held));
    }
    return present;
  }

  /** Undefined: all are there; else those that are. */
  #compareShared({ shared }: RowParts, row: Forwarding): SharedElement[] | undefined {
    const missing = this.#missing(shared, row);
    if (missing.size === 0) return undefined;
    return shared.filter((element) => !missing.has(element));
  }

  /** Ranges of a list are compared once, for the first row that uses it. */
  #compareRanges(
    sources: SourceList | undefined,
    row: Forwarding,
  ): Pick<ComparedRow, 'missingRanges'> & { readonly isListed: boolean } {
    if (sources === undefined) return { isListed: true };
    const known = this.#isListed.get(sources.number);
    if (known !== undefined) return { isListed: known };
    const missingRanges = new Set(
      [...this.#missing(rangeElements(sources), row)].map(({ key }) => key),
    );
    const isListed = missingRanges.size === 0;
    this.#isListed.set(sources.number, isListed);
    return { isListed, missingRanges };
  }

  #missing(elements: readonly SharedElement[], row: Forwarding): Set<SharedElement> {
    const missing = new Set<SharedElement>();
    for (const element of elements) {
      if (isSame(this.#view.held(element.set, element), undefined)) continue;
      missing.add(element);
      this.#differ('missing', element, row);
    }
    return missing;
  }

  /** The actual and the desired value of the element. */
  #values(element: {
    readonly set: ManagedSet;
    readonly value?: Binary;
    readonly held?: Held | 'assumed' | undefined;
  }): Pick<Difference, 'wanted' | 'found'> {
    const { value: fields } = setSpec(this.#family, element.set);
    if (fields === undefined || fields === 'verdict') return {};
    const text = (value: Binary | undefined): string =>
      value === undefined ? 'no value' : valueTextOf(fields, value);
    const held = element.held === 'assumed' ? undefined : element.held?.value;
    return { wanted: [text(element.value)], found: [text(held)] };
  }

  #differ(
    kind: Difference['kind'],
    element: {
      readonly set: ManagedSet;
      readonly key: Binary;
      readonly value?: Binary;
      readonly held?: Held | 'assumed' | undefined;
    },
    row?: Forwarding,
  ): void {
    if (this.#differences.isFull) {
      this.#differences.count += 1;
      return;
    }
    this.#differences.add(() => ({
      kind,
      object: elementName(this.#family, element.set, element.key),
      ...(kind === 'different' ? this.#values(element) : {}),
      ...(row === undefined ? {} : { service: servicePortName(row.id) }),
    }));
  }
}

/** In a list with affinity each endpoint has three. */
function elementCount({ elements, lists }: RowParts): number {
  const count = (sum: number, { endpoints, isSticky }: RowParts['lists'][number]) =>
    sum + endpoints.length * (isSticky ? 3 : 1);
  return lists.reduce(count, elements.length);
}

function isSame(held: Held | 'assumed' | undefined, value: Binary | undefined): boolean {
  if (held === 'assumed') return true;
  return held !== undefined && held.value === value;
}

function withValue(element: RowElement, held: Held | 'assumed'): RowElement {
  if (held === 'assumed' || held.value === undefined) return element;
  return { ...element, value: held.value };
}
