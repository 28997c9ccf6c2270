import { FIELDS, type FieldPath, type FieldValue } from '../fields/field-table.ts';
import { writtenValue } from '../write.ts';
import { FLAG_NAMES, type FlagName, fieldFlag, isFieldFlag, startFlag } from './flag-table.ts';
import type { GivenFlags } from './read.ts';

/**
 * Every flag of kube-proxy with its value from the command line or its default. Like kube-proxy,
 * this leaves out the values of the configuration file.
 */
export function shownFlags(given: GivenFlags): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FLAG_NAMES.map((name) => [name, given.get(name)?.join(',') ?? defaultText(name)]),
  );
}

function defaultText(name: FlagName): string {
  if (isFieldFlag(name)) {
    const [path] = fieldFlag(name).sets;
    return path === undefined ? '' : goText(path, FIELDS[path].kubeProxyDefault);
  }
  const { value } = startFlag(name);
  return value === 'boolean' || name === 'version' ? 'false' : '';
}

/** As Go prints the value of a flag. */
function goText(path: FieldPath, value: FieldValue): string {
  const written = writtenValue(path, value);
  if (Array.isArray(written)) return `[${written.join(',')}]`;
  if (typeof written !== 'object' || written === null) return String(written);
  return Object.entries(written)
    .map(([name, isOn]) => `${name}=${String(isOn)}`)
    .join(',');
}
