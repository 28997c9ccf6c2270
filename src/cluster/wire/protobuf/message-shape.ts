/**
 * The fields of a message that are decoded, by number, with their JSON names. Other fields are
 * skipped.
 */
export interface Shape {
  /** Indexed by field number. */
  readonly fields: readonly (Field | undefined)[];
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly isList: boolean;
}

export type FieldType =
  | { readonly is: 'text' | 'integer' | 'boolean' | 'time' | 'bytes' }
  | { readonly is: 'message'; readonly shape: Shape }
  /** A map of strings; only these keys are kept. */
  | { readonly is: 'texts'; readonly keys: ReadonlySet<string> | 'all' };

type Fields = Readonly<Record<number, Field>>;

export function shapeOf(fields: Fields): Shape {
  const list: (Field | undefined)[] = [];
  for (const [number, field] of Object.entries(fields)) list[Number(number)] = field;
  // Without holes: V8 reads sparse arrays more slowly.
  return { fields: Array.from(list) };
}

function field(is: 'text' | 'integer' | 'boolean' | 'time' | 'bytes') {
  return (name: string): Field => ({ name, type: { is }, isList: false });
}

export const text = field('text');
export const integer = field('integer');
export const boolean = field('boolean');
/** Decoded into milliseconds since 1970. */
export const time = field('time');
export const bytes = field('bytes');

export function message(name: string, shape: Shape): Field {
  return { name, type: { is: 'message', shape }, isList: false };
}

export function texts(name: string, keys: readonly string[] | 'all'): Field {
  const kept = keys === 'all' ? keys : new Set(keys);
  return { name, type: { is: 'texts', keys: kept }, isList: false };
}

export function listOf(item: Field): Field {
  return { ...item, isList: true };
}
