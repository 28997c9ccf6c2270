import { isRecord, type JsonRecord, parseJson } from '../../cluster/json.ts';

/** Why an output of `fairlead -o json` is no answer; another version may have printed it. */
class NotSaid extends Error {}

/** The object that was printed. */
export function recordSaid(stdout: string): JsonRecord {
  const value = parseJson(stdout)?.value;
  if (isRecord(value)) return value;
  throw new NotSaid('it printed no answer');
}

/** The list that was printed. */
export function listSaid(stdout: string): readonly JsonRecord[] {
  const value = parseJson(stdout)?.value;
  if (Array.isArray(value) && value.every(isRecord)) return value;
  throw new NotSaid('it printed no answer');
}

/** A field that an answer must have. */
export function saidBoolean(record: JsonRecord, name: string): boolean {
  const value = record[name];
  if (typeof value === 'boolean') return value;
  throw new NotSaid(`its version of Fairlead does not say ${name}`);
}

export function saidCount(record: JsonRecord, name: string): number {
  const value = record[name];
  if (typeof value === 'number') return value;
  throw new NotSaid(`its version of Fairlead does not say ${name}`);
}
