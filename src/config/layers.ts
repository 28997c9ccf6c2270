import type { Place } from './config-problem.ts';
import type { FieldPath, FieldValue, FieldValues } from './fields/field-table.ts';

/** Origin of a value. */
export type Origin =
  /** `via`: the field that the default follows, where it is not the usual one. */
  | { readonly from: 'default'; readonly via?: FieldPath }
  | { readonly from: 'file'; readonly place: Place; readonly via?: FieldPath }
  | { readonly from: 'flag'; readonly flag: string; readonly via?: FieldPath };

export interface Resolved<Value> {
  readonly value: Value;
  readonly origin: Origin;
}

/** All fields with value and origin. */
export type ResolvedFields = { readonly [P in FieldPath]: Resolved<FieldValues[P]> };

/** Values of one layer (file or flags); other fields are absent. */
export type Layer = ReadonlyMap<FieldPath, Resolved<FieldValue>>;

export function formatOrigin(origin: Origin): string {
  const source = sourceOf(origin);
  return origin.via === undefined ? source : `${source} (${origin.via})`;
}

function sourceOf(origin: Origin): string {
  if (origin.from === 'default') return 'default';
  return origin.from === 'flag' ? `--${origin.flag}` : `file line ${origin.place.line}`;
}
