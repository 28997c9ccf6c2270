import { inspect } from 'node:util';
import type { z } from 'zod';
import type { Problem } from './config-problem.ts';
import { type ConfigDocument, readDocument } from './document.ts';
import { KIND_IN_WORDS } from './field-kinds.ts';
import {
  FIELD_PATHS,
  FIELDS,
  type FieldPath,
  type FieldValue,
  isFieldPath,
} from './fields/field-table.ts';
import type { Layer, Resolved } from './layers.ts';
import { configurationSchema } from './schema.ts';

/** Characters of a wrong value that a message repeats. */
const MOST_SHOWN = 40;

/** Fields of the file; a problem in one field does not affect the others. */
export interface FileReading {
  readonly layer: Layer;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Reads strictly, but like kube-proxy only warns about unknown and repeated fields. Throws a
 * ConfigError for a text that holds no configuration at all.
 */
export function readConfigText(text: string, file: string): FileReading {
  const document = readDocument(text, file);
  const { parsed, problems, unknown } = parseFields(document);
  return {
    layer: toLayer(parsed, document),
    problems,
    warnings: [...document.warnings, ...unknown],
  };
}

interface ParsedFields {
  readonly parsed: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  readonly unknown: readonly Problem[];
}

function parseFields(document: ConfigDocument): ParsedFields {
  const strict = configurationSchema.safeParse(document.value);
  if (strict.success) return { parsed: strict.data, problems: [], unknown: [] };

  const { issues } = strict.error;
  const unknownPaths = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [],
  );
  const faults = issues.filter((issue) => issue.code !== 'unrecognized_keys');
  const rest = without(document.value, [...unknownPaths, ...faults.map((issue) => issue.path)]);
  const lenient = configurationSchema.safeParse(rest);
  return {
    parsed: lenient.success ? lenient.data : {},
    problems: faults.map((issue) => toProblem(issue, document)),
    unknown: unknownPaths.map((path) => unknownField(path, document)),
  };
}

function toProblem(issue: z.core.$ZodIssue, document: ConfigDocument): Problem {
  const names = issue.path.map(String);
  const field = names.map((_, i) => names.slice(0, i + 1).join('.')).find(isFieldPath);
  const expected = field === undefined ? 'a mapping of fields' : KIND_IN_WORDS[FIELDS[field].kind];
  const found = shorten(inspect(at(document.value, names), { depth: 1, breakLength: Infinity }));
  return {
    subject: fieldName(issue.path),
    message: `must be ${expected}, and is ${found}`,
    place: document.placeOf(issue.path),
  };
}

function shorten(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`;
}

function unknownField(path: readonly PropertyKey[], document: ConfigDocument): Problem {
  const subject = fieldName(path);
  const meant = FIELD_PATHS.find((known) => sameLetters(known, subject));
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return {
    subject,
    message: `is not a known field and is ignored.${hint}`,
    place: document.placeOf(path),
  };
}

function sameLetters(one: string, other: string): boolean {
  const letters = (text: string): string => text.toLowerCase().replace(/[-_]/g, '');
  return letters(one) === letters(other);
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

/** A copy without the values at these paths. A fault inside a list removes the list. */
function without(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = paths.filter(([first]) => String(first) === name).map((path) => path.slice(1));
    const isGone = below.some((path) => path.length === 0 || typeof path[0] === 'number');
    return isGone ? [] : [[name, below.length === 0 ? inner : without(inner, below)]];
  });
  return Object.fromEntries(kept);
}

function toLayer(parsed: Readonly<Record<string, unknown>>, document: ConfigDocument): Layer {
  const layer = new Map<FieldPath, Resolved<FieldValue>>();
  for (const path of FIELD_PATHS) {
    const names = path.split('.');
    const value = at(parsed, names);
    if (value === undefined || value === null) continue;
    if (FIELDS[path].zeroIsUnset && (value === 0 || value === '')) continue;
    const origin = { from: 'file', place: document.placeOf(names) } as const;
    // The schema has checked the type.
    layer.set(path, { value: value as FieldValue, origin });
  }
  return layer;
}

function at(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? Reflect.get(inner, name)
        : undefined,
    value,
  );
}
