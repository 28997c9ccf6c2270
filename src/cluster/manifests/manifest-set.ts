import { ClusterError } from '../cluster-error.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../json.ts';
import type { Interner } from '../narrow/interner.ts';
import { narrow } from '../narrow/narrow.ts';
import type { Kind, ObjectKey } from '../object-kinds.ts';
import type { SourceEvent } from '../source.ts';
import { readDocuments } from './documents.ts';
import type { ManifestText } from './manifest-files.ts';

type PutEvent = Extract<SourceEvent, { type: 'put' }>;

/** Contents of a file when it was last read. */
interface FileContents {
  /** Undefined: it could not be read. */
  readonly text: string | undefined;
  readonly objects: ReadonlyMap<string, PutEvent>;
  readonly problems: readonly ClusterError[];
}

export interface ReadOptions {
  readonly interner: Interner;
  readonly nodeName: string | undefined;
  /** Whether an object is in the scope. */
  readonly isWanted: (kind: Kind, raw: JsonRecord) => boolean;
}

export interface ManifestUpdate {
  readonly events: readonly SourceEvent[];
  /** All current problems, including earlier ones. */
  readonly problems: readonly ClusterError[];
}

/** The objects of all files together. */
export class ManifestSet {
  readonly #options: ReadOptions;
  #files: ReadonlyMap<string, FileContents> = new Map();
  #told: ReadonlyMap<string, PutEvent> = new Map();

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  /** Takes the current files; returns the differences, deletes first, and the problems. */
  update(texts: readonly ManifestText[]): ManifestUpdate {
    const files = new Map(
      texts.map((given) => [given.file, this.#contents(given, this.#files.get(given.file))]),
    );
    this.#files = files;
    const { objects, problems } = merge(files);
    const events = difference(this.#told, objects);
    this.#told = objects;
    return { events, problems };
  }

  #contents(given: ManifestText, before: FileContents | undefined): FileContents {
    if (given.text === undefined) {
      const problems = given.problem === undefined ? [] : [given.problem];
      // A file that is being replaced is missing for a moment: keep its objects.
      return { text: undefined, objects: before?.objects ?? new Map(), problems };
    }
    if (before !== undefined && before.text === given.text) return before;
    const read = readObjects({ file: given.file, text: given.text }, this.#options);
    if (read.problems.length === 0 || before === undefined) return read;
    // A syntax error while a file is edited must not delete its objects.
    return { ...read, objects: new Map([...before.objects, ...read.objects]) };
  }
}

function readObjects(
  { file, text }: { readonly file: string; readonly text: string },
  { interner, nodeName, isWanted }: ReadOptions,
): FileContents {
  const objects = new Map<string, PutEvent>();
  const problems: ClusterError[] = [];
  for (const document of readDocuments(text)) {
    if ('problem' in document) {
      problems.push(broken(file, document.line, document.problem));
      continue;
    }
    if (!isObjectOrNothing(document.value)) {
      problems.push(broken(file, document.line, 'not a Kubernetes object: it has no kind'));
      continue;
    }
    for (const { kind, raw } of objectsOf(document.value)) {
      const item = narrow(kind, raw, interner);
      if (item === undefined) {
        problems.push(broken(file, document.line, whyUnreadable(kind, raw)));
      } else if (isWanted(kind, raw) && isOfNode(kind, item.key, nodeName)) {
        const { key, object } = item;
        objects.set(idOf(kind, key), { kind, type: 'put', key, object } as PutEvent);
      }
    }
  }
  return { text, objects, problems };
}

function isOfNode(kind: Kind, key: ObjectKey, nodeName: string | undefined): boolean {
  return kind !== 'node' || nodeName === undefined || key === nodeName;
}

/** A document with only comments is empty. */
function isObjectOrNothing(value: unknown): boolean {
  return value === null || value === undefined || (isRecord(value) && textAt(value, 'kind') !== '');
}

/** Characters of a name that an error shows. */
const MOST_OF_A_NAME = 80;

function whyUnreadable(kind: Kind, raw: JsonRecord): string {
  const name = textAt(recordAt(raw, 'metadata'), 'name');
  if (name === '') return `a ${kind} without a name`;
  const quoted = JSON.stringify(name.slice(0, MOST_OF_A_NAME));
  return `${kind} ${quoted}: no addressType, or names that the API server would reject`;
}

interface Merged {
  readonly objects: ReadonlyMap<string, PutEvent>;
  readonly problems: readonly ClusterError[];
}

function merge(files: ReadonlyMap<string, FileContents>): Merged {
  const objects = new Map<string, PutEvent>();
  const problems: ClusterError[] = [];
  for (const [file, contents] of files) {
    problems.push(...contents.problems);
    for (const [id, event] of contents.objects) {
      if (objects.has(id)) problems.push(repeated(file, id));
      objects.set(id, event);
    }
  }
  return { objects, problems };
}

function difference(
  before: ReadonlyMap<string, PutEvent>,
  after: ReadonlyMap<string, PutEvent>,
): readonly SourceEvent[] {
  const gone = [...before.keys()].filter((id) => !after.has(id)).sort();
  const deletes = gone.flatMap((id): SourceEvent[] => {
    const event = before.get(id);
    return event === undefined ? [] : [{ kind: event.kind, type: 'delete', key: event.key }];
  });
  const puts = [...after.entries()]
    .filter(([id, event]) => !isEqual(before.get(id), event))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, event]) => event);
  return [...deletes, ...puts];
}

function isEqual(before: PutEvent | undefined, after: PutEvent): boolean {
  if (before === after) return true;
  return before !== undefined && JSON.stringify(before) === JSON.stringify(after);
}

function idOf(kind: Kind, key: ObjectKey): string {
  return `${kind} ${key}`;
}

function broken(file: string, line: number, why: string): ClusterError {
  return new ClusterError('MANIFEST_BROKEN', `${file}:${line}: ${why}`, {
    next: 'fix the document; the others are not affected',
  });
}

function repeated(file: string, id: string): ClusterError {
  return new ClusterError('MANIFEST_REPEATED', `${file}: ${id} is also defined in another file`, {
    next: 'remove one of them; the last one is used',
  });
}

/** An object of a watched kind. */
interface ManifestObject {
  readonly kind: Kind;
  readonly raw: JsonRecord;
}

interface KnownKind {
  readonly kind: Kind;
  readonly group: string;
  readonly isNamespaced: boolean;
}

const KNOWN_KINDS: ReadonlyMap<string, KnownKind> = new Map([
  ['Service', { kind: 'service', group: '', isNamespaced: true }],
  ['EndpointSlice', { kind: 'slice', group: 'discovery.k8s.io', isNamespaced: true }],
  ['Node', { kind: 'node', group: '', isNamespaced: false }],
  ['ServiceCIDR', { kind: 'serviceCidr', group: 'networking.k8s.io', isNamespaced: false }],
  ['Namespace', { kind: 'namespace', group: '', isNamespaced: false }],
]);

const LIST = 'List';
/** Depth limit: lists can be nested, and YAML anchors can make cycles. */
const MAX_DEPTH = 4;

/** The objects of watched kinds in a document; others are ignored. */
export function objectsOf(document: unknown): readonly ManifestObject[] {
  return flatten(document, { apiVersion: '', kind: '', depth: 0 });
}

interface Surroundings {
  /** Kind of the items of a typed list, which do not name it themselves. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly depth: number;
}

function flatten(value: unknown, around: Surroundings): readonly ManifestObject[] {
  if (!isRecord(value) || around.depth > MAX_DEPTH) return [];
  const apiVersion = textAt(value, 'apiVersion') || around.apiVersion;
  const kind = textAt(value, 'kind') || around.kind;
  if (kind.endsWith(LIST)) {
    const inside = { apiVersion, kind: kind.slice(0, -LIST.length), depth: around.depth + 1 };
    return arrayAt(value, 'items').flatMap((item) => flatten(item, inside));
  }
  const known = KNOWN_KINDS.get(kind);
  if (known === undefined || groupOf(apiVersion) !== known.group) return [];
  return [{ kind: known.kind, raw: known.isNamespaced ? inNamespace(value) : value }];
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** The namespace that `kubectl apply` would use. */
function inNamespace(raw: JsonRecord): JsonRecord {
  const metadata = recordAt(raw, 'metadata');
  if (textAt(metadata, 'namespace') !== '') return raw;
  return { ...raw, metadata: { ...metadata, namespace: 'default' } };
}
