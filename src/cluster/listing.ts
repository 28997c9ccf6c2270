import type { ObjectKey } from './kinds.ts';
import type { Narrowed } from './narrow/meta.ts';
import type { Stamp } from './stamp.ts';
import { RelistedObjects, type Told } from './told.ts';

export interface Teller<T> {
  put(item: Narrowed<T>): void;
  /** `stamp`: of the event that deleted it, if there was one. */
  delete(key: ObjectKey, stamp?: Stamp): void;
}

/** A list that is being received: begun, filled, and finished when complete. */
export interface Listing<T> extends Teller<T> {
  finish(): void;
}

/**
 * The first list is reported as it arrives. A later one is reported when it is complete, deletes
 * first, so that no mixture of old and new is visible, nor a part of a truncated list.
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
