import type { FieldPath, FieldValue, FieldValues } from './fields/table.ts';
import type { Place } from './problem.ts';

/** Where a value came from. */
export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly place: Place; readonly via?: FieldPath }
  | { readonly from: 'flag'; readonly flag: string; readonly via?: FieldPath };

export interface Resolved<Value> {
  readonly value: Value;
  readonly origin: Origin;
}

/** Every field with its value and where that came from. */
export type ResolvedFields = { readonly [P in FieldPath]: Resolved<FieldValues[P]> };

/** What one source (the file, the flags) says; fields it does not mention are absent. */
export type Layer = ReadonlyMap<FieldPath, Resolved<FieldValue>>;

export function formatOrigin(origin: Origin): string {
  if (origin.from === 'default') return 'default';
  const source = origin.from === 'flag' ? `--${origin.flag}` : `file line ${origin.place.line}`;
  return origin.via === undefined ? source : `${source} (${origin.via})`;
}
