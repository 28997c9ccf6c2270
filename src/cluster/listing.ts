import type { ObjectKey } from './kinds.ts';
import type { Narrowed } from './narrow/meta.ts';
import { RelistedObjects, type Told } from './told.ts';

export interface Teller<T> {
  put(item: Narrowed<T>): void;
  delete(key: ObjectKey): void;
}

/** A list on its way to those who want to know: begun, filled, and finished when it is complete. */
export interface Listing<T> extends Teller<T> {
  finish(): void;
}

/**
 * The first list is told as it arrives. A later one is told when it is complete, deletes first, so
 * that nobody sees a mixture of old and new, nor anything of a list that breaks off.
 */
export function beginListing<T>(told: Told<T>, teller: Teller<T>): Listing<T> {
  if (told.isEmpty) return { ...teller, finish: () => undefined };
  const fresh = new RelistedObjects(told);
  return {
    put: (item) => fresh.put(item),
    delete: (key) => fresh.delete(key),
    finish() {
      const { gone, changed } = told.compare(fresh);
      for (const key of gone) teller.delete(key);
      for (const item of changed) teller.put(item);
    },
  };
}
