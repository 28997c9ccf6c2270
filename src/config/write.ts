import { stringify } from 'yaml';
import { API_VERSION, KIND } from './document.ts';
import { formatDuration } from './duration.ts';
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from './fields/field-table.ts';
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

/** A file that results in the same settings, also in kube-proxy except for the fairlead block. */
export function toConfigurationYaml(fields: ResolvedFields): string {
  // kube-proxy would warn about the block, so it is written only if needed.
  const isWritten = (path: FieldPath): boolean =>
    !path.startsWith('fairlead.') || fields[path].origin.from !== 'default';
  return yamlOf(fields, FIELD_PATHS.filter(isWritten));
}

/** Only fields given by file or flag, so that dependent defaults stay dependent. */
export function toGivenYaml(
  fields: ResolvedFields,
  except: ReadonlySet<FieldPath> = new Set(),
): string {
  const isGiven = (path: FieldPath): boolean =>
    fields[path].origin.from !== 'default' && !except.has(path);
  return yamlOf(fields, FIELD_PATHS.filter(isGiven));
}

function yamlOf(fields: ResolvedFields, paths: readonly FieldPath[]): string {
  const root: Section = { apiVersion: API_VERSION, kind: KIND };
  for (const path of paths) {
    const { value } = fields[path];
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
