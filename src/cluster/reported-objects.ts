import type { Narrowed } from './narrow/meta.ts';
import type { ObjectKey } from './object-kinds.ts';

export interface Differences<T> {
  readonly gone: readonly ObjectKey[];
  readonly changed: readonly Narrowed<T>[];
}

/**
 * Versions of the objects that were reported, so that a new list can be reported as differences:
 * deleted objects go, and unchanged ones are not reported twice.
 */
export class Told<T> {
  readonly #versions = new Map<ObjectKey, string>();

  get isEmpty(): boolean {
    return this.#versions.size === 0;
  }

  put(key: ObjectKey, resourceVersion: string): void {
    this.#versions.set(key, resourceVersion);
  }

  /** Returns whether it was reported before. */
  delete(key: ObjectKey): boolean {
    return this.#versions.delete(key);
  }

  /** Every object will be reported again: equal versions no longer mean equal contents. */
  forgetVersions(): void {
    for (const key of this.#versions.keys()) this.#versions.set(key, '');
  }

  isCurrent(key: ObjectKey, resourceVersion: string): boolean {
    return resourceVersion !== '' && this.#versions.get(key) === resourceVersion;
  }

  /** The differences that a complete list makes. */
  compare(list: RelistedObjects<T>): Differences<T> {
    const gone = [...this.#versions.keys()].filter((key) => !list.seen.has(key)).sort();
    return { gone, changed: [...list.changed.values()] };
  }
}

/** A new list while it arrives: all keys, and the objects that changed. */
export class RelistedObjects<T> {
  readonly seen = new Set<ObjectKey>();
  readonly changed = new Map<ObjectKey, Narrowed<T>>();
  readonly #told: Told<T>;

  constructor(told: Told<T>) {
    this.#told = told;
  }

  put(item: Narrowed<T>): void {
    this.seen.add(item.key);
    if (this.#told.isCurrent(item.key, item.resourceVersion)) this.changed.delete(item.key);
    else this.changed.set(item.key, item);
  }

  delete(key: ObjectKey): void {
    this.seen.delete(key);
    this.changed.delete(key);
  }
}
