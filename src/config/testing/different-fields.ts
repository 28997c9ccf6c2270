import { FIELD_PATHS, type FieldPath } from '../fields/field-table.ts';
import type { LoadedConfig } from '../load-config.ts';
import { writtenValue } from '../write.ts';

/** kube-proxy writes the periods of the modes it does not run as zero, so they cannot be compared. */
const PERIOD = /^(iptables|nftables|ipvs)\.(sync|minSync)Period$/;

/** The fields that have another value than in a configuration that kube-proxy wrote. */
export function differentFields(
  { fields, settings }: Pick<LoadedConfig, 'fields' | 'settings'>,
  theirs: unknown,
): readonly FieldPath[] {
  const runs = at(theirs, 'mode') === settings.mode ? settings.mode : 'another mode';
  return FIELD_PATHS.filter((path) => {
    if (path.startsWith('fairlead.')) return false;
    if (PERIOD.test(path) && !path.startsWith(`${runs}.`)) return false;
    const value = at(theirs, path);
    const ours = writtenValue(path, fields[path].value);
    return JSON.stringify(orZero(value, ours)) !== JSON.stringify(ours);
  });
}

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
      value,
    );
}

/** Go omits empty values, or writes null for them. */
function orZero(value: unknown, like: unknown): unknown {
  if (value !== undefined && value !== null) return value;
  if (Array.isArray(like)) return [];
  return typeof like === 'object' ? {} : like === '' || like === false ? like : value;
}
