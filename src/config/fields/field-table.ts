import type { KindValues } from '../field-kinds.ts';
import type { FieldRow } from './field-row.ts';
import { KERNEL_FIELDS } from './kernel-fields.ts';
import { OWN_MODE_FIELDS, PROCESS_FIELDS } from './process.ts';
import { SCOPE_FIELDS } from './scope-fields.ts';
import { TRAFFIC_FIELDS } from './traffic-fields.ts';

const ROWS = {
  ...TRAFFIC_FIELDS,
  ...OWN_MODE_FIELDS,
  ...KERNEL_FIELDS,
  ...SCOPE_FIELDS,
  ...PROCESS_FIELDS,
};

/** The path of a field in the configuration file, such as `conntrack.maxPerCore`. */
export type FieldPath = keyof typeof ROWS;

/**
 * Every field of the configuration file: its kind, kube-proxy's default and ours, what it does, and
 * whether it can change while running. Reading, checking, printing and the documentation all come
 * from this one table.
 */
export const FIELDS: Readonly<Record<FieldPath, FieldRow>> = ROWS;

export const FIELD_PATHS: readonly FieldPath[] = Object.keys(ROWS).filter(isFieldPath);

export type FieldValues = {
  readonly [P in FieldPath]: KindValues[(typeof ROWS)[P]['kind']];
};

export type FieldValue = KindValues[keyof KindValues];

export function isFieldPath(text: string): text is FieldPath {
  return Object.hasOwn(ROWS, text);
}
