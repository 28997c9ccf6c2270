import * as z from 'zod';
import { API_VERSION, KIND } from './document.ts';
import { parseDurationMs } from './duration.ts';
import type { Kind } from './field-kinds.ts';
import type { FieldRow } from './fields/field-row.ts';
import { FIELD_PATHS, FIELDS } from './fields/field-table.ts';

/** Sections of the file are nested maps of sections and fields. */
interface Section {
  [name: string]: Section | FieldRow;
}

const NANOSECONDS_PER_MS = 1e6;

const duration = z
  .string()
  .meta({ examples: ['30s', '1h0m0s'] })
  .transform((text, context) => {
    const ms = parseDurationMs(text);
    if (ms !== undefined) return ms;
    context.issues.push({ code: 'custom', input: text });
    return z.NEVER;
  });

const TYPES: Readonly<Record<Kind, z.ZodType>> = {
  text: z.string(),
  boolean: z.boolean(),
  int32: z.int32(),
  number: z.number(),
  duration,
  durationOrNanoseconds: z.union([
    duration,
    z.int().transform((nanoseconds) => nanoseconds / NANOSECONDS_PER_MS),
  ]),
  texts: z.array(z.string()),
  quantity: z.union([z.string(), z.number().transform(String)]),
  // Go takes null for false.
  switches: z.record(z.string(), z.boolean().nullable().transform(Boolean)),
  filePatterns: z.array(z.strictObject({ filePattern: z.string(), verbosity: z.int().min(0) })),
};

/** Types only. Values are validated later, for file and flags alike. */
export const configurationSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal(KIND),
  ...shapeOf(sections()),
});

/** For editors: completes and checks a KubeProxyConfiguration while it is written. */
export function configurationJsonSchema(): object {
  return {
    title: KIND,
    ...z.toJSONSchema(configurationSchema, { io: 'input', unrepresentable: 'any' }),
  };
}

function sections(): Section {
  const root: Section = {};
  for (const path of FIELD_PATHS) {
    const names = path.split('.');
    const last = names.pop() ?? path;
    let section = root;
    for (const name of names) {
      const inner = section[name] ?? {};
      section[name] = inner;
      section = inner as Section;
    }
    section[last] = FIELDS[path];
  }
  return root;
}

function shapeOf(section: Section): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(section).map(([name, inner]) => [
      name,
      // Go writes null for "not set", so every field may be null.
      (isRow(inner) ? typeOf(inner) : z.strictObject(shapeOf(inner))).nullish(),
    ]),
  );
}

function typeOf(row: FieldRow): z.ZodType {
  const description = row.noEffect === undefined ? row.about : `${row.about} (no effect)`;
  const choices = row.choices === undefined ? {} : { enum: ['', ...row.choices] };
  return TYPES[row.kind].meta({ description, ...choices });
}

function isRow(inner: Section | FieldRow): inner is FieldRow {
  return typeof inner['kind'] === 'string' && 'kubeProxyDefault' in inner;
}
