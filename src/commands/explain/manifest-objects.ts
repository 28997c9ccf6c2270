import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';
import { readDocuments } from '../../cluster/manifests/documents.ts';
import {
  findManifests,
  readManifest,
  STANDARD_INPUT,
} from '../../cluster/manifests/manifest-files.ts';

/** Lists can be nested, and YAML anchors can make cycles. */
const MOST_NESTED = 4;

/** All objects of manifests. Standard input has been read already, and is left out. */
export async function objectsOfManifests(paths: readonly string[]): Promise<readonly JsonRecord[]> {
  const files = await findManifests(paths.filter((path) => path !== STANDARD_INPUT));
  const texts = await Promise.all(files.map(readManifest));
  return texts
    .flatMap(({ text }) => (text === undefined ? [] : readDocuments(text)))
    .flatMap((document) => ('value' in document ? objectsIn(document.value) : []));
}

function objectsIn(value: unknown, depth = 0): readonly JsonRecord[] {
  if (!isRecord(value) || depth > MOST_NESTED) return [];
  const kind = textAt(value, 'kind');
  if (!kind.endsWith('List')) return [value];
  const inside = kind.slice(0, -'List'.length);
  return arrayAt(value, 'items').flatMap((item) =>
    objectsIn(isRecord(item) && inside !== '' ? { kind: inside, ...item } : item, depth + 1),
  );
}
