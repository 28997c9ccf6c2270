import { compareFields, type FieldChange } from './config-changes.ts';
import { FIELD_PATHS } from './fields/field-table.ts';
import type { ResolvedFields } from './layers.ts';
import type { LoadedConfig } from './load-config.ts';
import { modeOf, resolveSettings } from './resolve.ts';

/** How a running agent handles a changed configuration. */
export interface ChangePlan {
  /** Changes to apply now. */
  readonly live: readonly FieldChange[];
  /** Changes that need a restart, including earlier ones. */
  readonly restart: readonly FieldChange[];
  /** The configuration to run with: the running one with the live changes. */
  readonly config: LoadedConfig;
}

/**
 * `running` is the `config` of the last plan rather than the last file: undoing a change that
 * needed a restart then needs none.
 */
export function planChange(running: LoadedConfig, wanted: LoadedConfig): ChangePlan {
  const changes = compareFields(running.fields, wanted.fields);
  const isOtherMode = modeOf(running.fields) !== modeOf(wanted.fields);
  // A field without effect in the next mode may matter in the running one.
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
