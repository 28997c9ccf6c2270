/**
 * Readers of untrusted values. They never throw: a value of an unexpected type counts as absent.
 */

export type JsonRecord = Readonly<Record<string, unknown>>;

const NOTHING: JsonRecord = Object.freeze({});
const NONE: readonly never[] = Object.freeze([]);

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object there, or an empty one. */
export function recordAt(parent: JsonRecord, name: string): JsonRecord {
  const value = parent[name];
  return isRecord(value) ? value : NOTHING;
}

export function arrayAt(parent: JsonRecord, name: string): readonly unknown[] {
  const value = parent[name];
  return Array.isArray(value) ? value : NONE;
}

/** The text there, or an empty one: the API treats both alike. */
export function textAt(parent: JsonRecord, name: string): string {
  const value = parent[name];
  return typeof value === 'string' ? value : '';
}

export function booleanAt(parent: JsonRecord, name: string): boolean | undefined {
  const value = parent[name];
  return typeof value === 'boolean' ? value : undefined;
}

/** The integer there, if it lies within the bounds; 0 otherwise, which the API means by absent. */
export function integerAt(
  parent: JsonRecord,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): number {
  const value = parent[name];
  if (typeof value !== 'number' || !Number.isInteger(value)) return 0;
  return value >= bounds.min && value <= bounds.max ? value : 0;
}

/** Milliseconds since 1970, if there is a time; a number is taken for them. */
export function timeMsAt(parent: JsonRecord, name: string): number | undefined {
  const value = parent[name];
  if (typeof value === 'number') return value;
  const ms = Date.parse(textAt(parent, name));
  return Number.isNaN(ms) ? undefined : ms;
}

export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    // The parser has one way to fail; a message of it could quote a secret.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
