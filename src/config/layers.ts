import type { FieldPath, FieldValue, FieldValues } from './fields/table.ts';
import type { Place } from './problem.ts';

/** Where a value came from. */
export type Origin =
  /** `via`: the field that the default follows, where it is not the usual one. */
  | { readonly from: 'default'; readonly via?: FieldPath }
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
  const source = sourceOf(origin);
  return origin.via === undefined ? source : `${source} (${origin.via})`;
}

function sourceOf(origin: Origin): string {
  if (origin.from === 'default') return 'default';
  return origin.from === 'flag' ? `--${origin.flag}` : `file line ${origin.place.line}`;
}
