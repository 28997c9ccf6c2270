export interface KeyedRow<T> {
  readonly element: Element;
  update(item: T): void;
}

export interface KeyedOptions<T> {
  readonly key: (item: T) => string;
  readonly create: (item: T) => KeyedRow<T>;
}

/** Children of an element, one for each item: those that stay are updated and keep the focus. */
export class KeyedList<T> {
  readonly #parent: Element;
  readonly #options: KeyedOptions<T>;
  #rows = new Map<string, KeyedRow<T>>();

  constructor(parent: Element, options: KeyedOptions<T>) {
    this.#parent = parent;
    this.#options = options;
  }

  update(items: readonly T[]): void {
    const { key, create } = this.#options;
    const rows = new Map<string, KeyedRow<T>>();
    for (const item of items) {
      const name = key(item);
      const row = this.#rows.get(name) ?? create(item);
      row.update(item);
      rows.set(name, row);
    }
    for (const [name, { element }] of this.#rows) {
      if (!rows.has(name)) element.remove();
    }
    let place = this.#parent.firstElementChild;
    for (const { element } of rows.values()) {
      if (element === place) place = place.nextElementSibling;
      else this.#parent.insertBefore(element, place);
    }
    this.#rows = rows;
  }
}
