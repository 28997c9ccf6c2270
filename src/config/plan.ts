import { compareFields, type FieldChange } from './changes.ts';
import { FIELD_PATHS } from './fields/table.ts';
import type { ResolvedFields } from './layers.ts';
import type { LoadedConfig } from './load.ts';
import { modeOf, resolveSettings } from './resolve.ts';

/** What a running Fairlead does about a configuration that is not the one it runs with. */
export interface ChangePlan {
  /** To be followed now. */
  readonly live: readonly FieldChange[];
  /** Everything that waits for a restart, also what did so before. */
  readonly restart: readonly FieldChange[];
  /** To run with from now on: what runs, and of what is wanted only what can be followed. */
  readonly config: LoadedConfig;
}

/**
 * `running` is the `config` of the last plan rather than the last file that was read: who takes
 * back a change that waits for a restart then no longer needs one.
 */
export function planChange(running: LoadedConfig, wanted: LoadedConfig): ChangePlan {
  const changes = compareFields(running.fields, wanted.fields);
  const isOtherMode = modeOf(running.fields) !== modeOf(wanted.fields);
  // What means nothing in the mode to come may mean something in the one that runs.
  const isKept = ({ effect }: FieldChange): boolean =>
    effect === 'restart' || (effect === 'none' && isOtherMode);
  const kept = new Set(changes.filter(isKept).map(({ path }) => path));
  const entries = FIELD_PATHS.map((path) => [
    path,
    (kept.has(path) ? running : wanted).fields[path],
  ]);
  const fields = Object.freeze(Object.fromEntries(entries)) as ResolvedFields;
  const { wishes, flags } = running;
  return {
    live: changes.filter(({ effect }) => effect === 'live'),
    restart: changes.filter(({ effect }) => effect === 'restart'),
    config: {
      settings: resolveSettings(fields, wishes),
      fields,
      wishes,
      flags,
      warnings: wanted.warnings,
    },
  };
}
