import { stringify } from 'yaml';
import { API_VERSION, KIND } from './document.ts';
import { formatDuration } from './duration.ts';
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from './fields/table.ts';
import type { ResolvedFields } from './layers.ts';

interface Section {
  [name: string]: unknown;
}

/** A field as it stands in a file. */
export function writtenValue(path: FieldPath, value: FieldValue): unknown {
  const { kind } = FIELDS[path];
  const isDuration = kind === 'duration' || kind === 'durationOrNanoseconds';
  return isDuration && typeof value === 'number' ? formatDuration(value) : value;
}

/** A file that gives the same settings again, here and, but for our own block, in kube-proxy. */
export function toConfigurationYaml(fields: ResolvedFields): string {
  const root: Section = { apiVersion: API_VERSION, kind: KIND };
  for (const path of FIELD_PATHS) {
    const { value, origin } = fields[path];
    // kube-proxy would warn about our block, so it is written only where it says something.
    if (path.startsWith('fairlead.') && origin.from === 'default') continue;
    const names = path.split('.');
    const last = names.pop() ?? path;
    let section = root;
    for (const name of names) {
      const inner = (section[name] ?? {}) as Section;
      section[name] = inner;
      section = inner;
    }
    section[last] = writtenValue(path, value);
  }
  return stringify(root, { sortMapEntries: true, lineWidth: 0, version: '1.1' });
}
