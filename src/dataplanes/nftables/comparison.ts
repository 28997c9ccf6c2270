import { type Forwarding, servicePortName } from '../../forwarding/model.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { Difference } from '../contract.ts';
import type { Differences } from '../differences.ts';
import { type Class, classId, classSetOf } from './classes.ts';
import { elementName } from './element-text.ts';
import type { ElementView } from './element-view.ts';
import type { Held, ManagedSet, RowElement, SharedElement } from './elements.ts';
import type { Numbers } from './numbers.ts';
import { partsOf, type RowParts } from './row.ts';

/** A row compared with what the kernel has of it. */
export interface ComparedRow {
  readonly parts: RowParts;
  /** Set when something is not as it should be: what the kernel has of the row. */
  readonly present?: RowParts;
}

/** Goes through the rows of one table and says what of them the kernel has. */
export class Comparison {
  readonly #family: TableFamily;
  readonly #view: ElementView;
  readonly #numbers: Numbers;
  readonly #differences: Differences;
  readonly #classes = new Map<string, Class>();

  constructor(of: {
    readonly family: TableFamily;
    readonly view: ElementView;
    readonly numbers: Numbers;
    readonly differences: Differences;
  }) {
    this.#family = of.family;
    this.#view = of.view;
    this.#numbers = of.numbers;
    this.#differences = of.differences;
  }

  /** Classes of all rows that were compared. */
  get classes(): Class[] {
    return [...this.#classes.values()];
  }

  compare(row: Forwarding): ComparedRow {
    const parts = partsOf(row, this.#numbers);
    for (const each of parts.classes) {
      this.#classes.set(`${classSetOf(each)} ${classId(each)}`, each);
    }
    const elements = this.#compareElements(parts, row);
    const shared = this.#compareShared(parts, row);
    if (!elements && !shared) return { parts };
    const present = {
      elements: elements ?? parts.elements,
      shared: shared ?? parts.shared,
      classes: [],
    };
    return { parts, present };
  }

  /** Counts what belongs to no row, without touching it. */
  noteLeftovers(): void {
    for (const leftover of this.#view.leftovers()) this.#differ('foreign', leftover);
  }

  /** What belongs to no row; call it when every row was compared. */
  *leftovers() {
    for (const leftover of this.#view.leftovers()) {
      this.#differ('foreign', leftover);
      yield leftover;
    }
  }

  /** Undefined: all are there. The usual case makes no list. */
  #compareElements(parts: RowParts, row: Forwarding): RowElement[] | undefined {
    let present: RowElement[] | undefined;
    // At a first start this is done for every element of every row: no object for each.
    for (let index = 0; index < parts.elements.length; index++) {
      const element = parts.elements[index] as RowElement;
      const held = this.#view.held(element.set, element);
      const isRight = isSame(held, element.value);
      if (!isRight) {
        this.#differ(held ? 'different' : 'missing', element, row);
        present ??= parts.elements.slice(0, index);
      }
      if (present && held) present.push(isRight ? element : withValue(element, held));
    }
    return present;
  }

  /** Undefined: all are there; else those that are. */
  #compareShared(parts: RowParts, row: Forwarding): SharedElement[] | undefined {
    const missing = parts.shared.filter(
      (element) => !isSame(this.#view.held(element.set, element), undefined),
    );
    for (const element of missing) this.#differ('missing', element, row);
    if (missing.length === 0) return undefined;
    return parts.shared.filter((element) => !missing.includes(element));
  }

  #differ(
    kind: Difference['kind'],
    of: { readonly set: ManagedSet; readonly key: Binary },
    row?: Forwarding,
  ): void {
    if (this.#differences.isFull) {
      this.#differences.count += 1;
      return;
    }
    this.#differences.add(() => ({
      kind,
      object: elementName(this.#family, of.set, of.key),
      ...(row === undefined ? {} : { service: servicePortName(row.id) }),
    }));
  }
}

function isSame(held: Held | 'assumed' | undefined, value: Binary | undefined): boolean {
  if (held === 'assumed') return true;
  return held !== undefined && held.value === value;
}

function withValue(element: RowElement, held: Held | 'assumed'): RowElement {
  if (held === 'assumed' || held.value === undefined) return element;
  return { ...element, value: held.value };
}
