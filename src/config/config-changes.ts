import { isDeepStrictEqual } from 'node:util';
import type { FieldRow } from './fields/field-row.ts';
import { FIELD_PATHS, FIELDS, type FieldPath } from './fields/field-table.ts';
import type { ResolvedFields } from './layers.ts';
import type { ModeName } from './modes.ts';
import { modeOf } from './resolve.ts';
import { isReadIn } from './validate.ts';
import { writtenValue } from './write.ts';

/** `none`: the field has no effect here, in this mode, or beside others. */
export type ChangeEffect = 'live' | 'restart' | 'none';

export interface FieldChange {
  readonly path: FieldPath;
  /** As they would be written in a file. */
  readonly before: unknown;
  readonly after: unknown;
  readonly effect: ChangeEffect;
}

/** Fields that differ, in the order of the table, and whether each needs a restart. */
export function compareFields(
  before: ResolvedFields,
  after: ResolvedFields,
): readonly FieldChange[] {
  const mode = modeOf(after);
  const isOtherMode = mode !== modeOf(before);
  const isOtherMachine = before['fairlead.nodeObject'].value !== after['fairlead.nodeObject'].value;
  return FIELD_PATHS.filter(
    (path) => !isDeepStrictEqual(before[path].value, after[path].value),
  ).map((path) => ({
    path,
    before: writtenValue(path, before[path].value),
    after: writtenValue(path, after[path].value),
    effect: effectOf(path, { mode, isOtherMode, isOtherMachine }),
  }));
}

function effectOf(
  path: FieldPath,
  {
    mode,
    isOtherMode,
    isOtherMachine,
  }: { mode: ModeName; isOtherMode: boolean; isOtherMachine: boolean },
): ChangeEffect {
  const row = FIELDS[path];
  if (row.noEffect !== undefined || !isReadIn(mode, row)) return 'none';
  if (path === 'mode' || path === 'fairlead.mode') return isOtherMode ? 'restart' : 'none';
  // A default for a machine without a Node object means something else on a node.
  if (isOtherMachine && row.defaultFollows !== undefined) return 'restart';
  return isOtherMode && isTiedToMode(row) ? 'restart' : row.change;
}

/** The value applies to the next mode, not to the running one. */
function isTiedToMode({ modes, defaultFollows }: FieldRow): boolean {
  return modes !== undefined || defaultFollows !== undefined;
}
