import { isDeepStrictEqual } from 'node:util';
import { FIELD_PATHS, FIELDS, type FieldPath } from './fields/table.ts';
import type { ResolvedFields } from './layers.ts';
import { modeOf } from './resolve.ts';
import { isReadIn } from './validate.ts';
import { writtenValue } from './write.ts';

/** `none`: the field means nothing here, or nothing in this mode. */
export type ChangeEffect = 'live' | 'restart' | 'none';

export interface FieldChange {
  readonly path: FieldPath;
  /** As they would be written in a file. */
  readonly before: unknown;
  readonly after: unknown;
  readonly effect: ChangeEffect;
}

/** The fields that differ, in the order of the table, and what it takes for each to be followed. */
export function compareFields(
  before: ResolvedFields,
  after: ResolvedFields,
): readonly FieldChange[] {
  return FIELD_PATHS.filter(
    (path) => !isDeepStrictEqual(before[path].value, after[path].value),
  ).map((path) => ({
    path,
    before: writtenValue(path, before[path].value),
    after: writtenValue(path, after[path].value),
    effect: effectOf(path, after),
  }));
}

function effectOf(path: FieldPath, after: ResolvedFields): ChangeEffect {
  const row = FIELDS[path];
  return row.noEffect !== undefined || !isReadIn(modeOf(after), row) ? 'none' : row.change;
}
