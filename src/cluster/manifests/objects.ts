import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../json.ts';
import type { Kind } from '../kinds.ts';

/** An object of a watched kind. */
export interface ManifestObject {
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
