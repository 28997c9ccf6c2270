import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  type Tags,
} from 'yaml';
import { ConfigError } from './config-error.ts';
import type { Place, Problem } from './config-problem.ts';

export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
export const KIND = 'KubeProxyConfiguration';

/** The KubeProxyConfiguration of a file, with positions of fields. */
export interface ConfigDocument {
  readonly value: Readonly<Record<string, unknown>>;
  /** Position of the field, or of its nearest parent. */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
  /** Duplicates: the last field and the first document are used, as in kube-proxy. */
  readonly warnings: readonly Problem[];
}

/** Kubernetes reads YAML 1.1 (`yes` is true), but takes dates and `1:30` for text. */
const TAGS_KUBERNETES_LACKS = new Set([
  'timestamp',
  'intTime',
  'floatTime',
  'binary',
  'omap',
  'pairs',
  'set',
]);
const YAML_OPTIONS = {
  version: '1.1',
  customTags: (tags: Tags): Tags => tags.filter((tag) => !lacks(tag)),
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

export function readDocument(text: string, file: string): ConfigDocument {
  const lines = new LineCounter();
  const documents = parse(text, { lines, file });
  const faults = documents.flatMap((document) =>
    document.errors.map((error) => ({
      subject: '',
      message: error.message,
      place: placeAt(error.pos[0], { lines, file }),
    })),
  );
  if (faults.length > 0) throw new ConfigError('CONFIG_SYNTAX', faults);

  const { document, value, spare } = choose(documents, file);
  const places = new Map<string, Place>();
  const warnings: Problem[] = spare.map(({ contents }) => ({
    subject: KIND,
    message: 'is a second document of this kind and is ignored; the first one is used',
    place: placeAt(contents?.range[0] ?? 0, { lines, file }),
  }));
  collectPlaces(document.contents, [], { lines, file, places, warnings });
  return {
    value,
    warnings,
    placeOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const place = places.get(keyOf(path.slice(0, length)));
        if (place !== undefined) return place;
      }
      return placeAt(document.contents?.range[0] ?? 0, { lines, file });
    },
  };
}

interface Text {
  readonly lines: LineCounter;
  readonly file: string;
}

function lacks(tag: Tags[number]): boolean {
  if (typeof tag === 'string') return TAGS_KUBERNETES_LACKS.has(tag);
  // The tags for numbers like `1:30` share their name with those of ordinary numbers.
  const isTime = 'format' in tag && tag.format === 'TIME';
  return isTime || TAGS_KUBERNETES_LACKS.has(tag.tag.replace('tag:yaml.org,2002:', ''));
}

function parse(text: string, { lines, file }: Text): readonly Document.Parsed[] {
  try {
    const documents = parseAllDocuments(text, { ...YAML_OPTIONS, lineCounter: lines });
    return Array.isArray(documents) ? documents : [];
  } catch (cause) {
    // The parser is recursive: text that is nested deeply enough exhausts its stack.
    throw unusable('the file is not valid YAML', { file, cause });
  }
}

interface Chosen {
  readonly document: Document.Parsed;
  readonly value: Readonly<Record<string, unknown>>;
  readonly spare: readonly Document.Parsed[];
}

function choose(documents: readonly Document.Parsed[], file: string): Chosen {
  const values = documents
    .filter((document) => isMap(document.contents))
    .map((document) => ({ document, value: plainValue(document, file) }));
  const ours = values.filter(({ value }) => value['kind'] === KIND);
  const [first, ...others] = ours;
  if (first === undefined) {
    const kinds = values.map(({ value }) => String(value['kind'] ?? 'a document without kind'));
    const found = kinds.length === 0 ? 'nothing' : kinds.join(', ');
    throw new ConfigError('CONFIG_KIND', [
      { subject: file, message: `no ${KIND} document found; found: ${found}` },
    ]);
  }
  if (first.value['apiVersion'] !== API_VERSION) {
    const found = first.value['apiVersion'];
    const message = `must be ${API_VERSION}, and is ${found === undefined ? 'missing' : String(found)}`;
    throw new ConfigError('CONFIG_KIND', [{ subject: 'apiVersion', message }]);
  }
  return { ...first, spare: others.map(({ document }) => document) };
}

function plainValue(document: Document.Parsed, file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = document.toJS();
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (cause) {
    // Undefined aliases, or exponential expansion.
    throw unusable('YAML aliases cannot be resolved', { file, cause });
  }
}

function unusable(message: string, { file, cause }: { file: string; cause: unknown }): ConfigError {
  const detail = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return new ConfigError('CONFIG_SYNTAX', [{ subject: file, message: detail }], cause);
}

interface Collected extends Text {
  readonly places: Map<string, Place>;
  readonly warnings: Problem[];
}

function collectPlaces(
  node: ParsedNode | null,
  path: readonly PropertyKey[],
  collected: Collected,
): void {
  const { places, warnings } = collected;
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      const inner = [...path, name];
      const place = placeAt(key.range?.[0] ?? 0, collected);
      const earlier = places.get(keyOf(inner));
      if (earlier !== undefined) {
        warnings.push({
          subject: inner.join('.'),
          message: `is set twice, first in line ${earlier.line}; the last value is used`,
          place,
        });
      }
      places.set(keyOf(inner), place);
      collectPlaces(value as ParsedNode | null, inner, collected);
    }
  } else if (isSeq(node)) {
    node.items.forEach((item, index) => {
      const inner = [...path, index];
      const range = (item as ParsedNode | null)?.range;
      if (range != null) places.set(keyOf(inner), placeAt(range[0], collected));
      collectPlaces(item as ParsedNode | null, inner, collected);
    });
  }
}

function placeAt(offset: number, { lines, file }: Text): Place {
  const { line, col } = lines.linePos(offset);
  // Line 0 is what the counter answers for an empty text.
  return { file, line: Math.max(1, line), column: Math.max(1, col) };
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}
