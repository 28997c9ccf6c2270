import { canonicalIp } from '../../addresses/ip.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../cluster/json.ts';
import { readDocuments } from '../../cluster/manifests/documents.ts';
import { findManifests, readManifest, STANDARD_INPUT } from '../../cluster/manifests/files.ts';
import { type Pod, readPod } from './pod.ts';

/** Lists can be nested, and YAML anchors can make cycles. */
const MOST_NESTED = 4;

/**
 * A Pod of manifests: by its object, else by the endpoint of an EndpointSlice that names it.
 * Undefined: neither is there. Standard input has been read already, and is left out.
 */
export async function podOfManifests(
  name: string,
  paths: readonly string[],
): Promise<Pod | undefined> {
  const files = await findManifests(paths.filter((path) => path !== STANDARD_INPUT));
  const texts = await Promise.all(files.map(readManifest));
  const objects = texts
    .flatMap(({ text }) => (text === undefined ? [] : readDocuments(text)))
    .flatMap((document) => ('value' in document ? objectsIn(document.value) : []));
  const pod = objects
    .filter((each) => textAt(each, 'kind') === 'Pod')
    .map(readPod)
    .find((each) => each.name === name);
  return pod ?? podOfSlices(name, objects);
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

function podOfSlices(name: string, objects: readonly JsonRecord[]): Pod | undefined {
  const addresses = new Set<string>();
  let nodeName = '';
  for (const slice of objects) {
    if (textAt(slice, 'kind') !== 'EndpointSlice') continue;
    const namespace = textAt(recordAt(slice, 'metadata'), 'namespace') || 'default';
    for (const endpoint of arrayAt(slice, 'endpoints').filter(isRecord)) {
      const target = recordAt(endpoint, 'targetRef');
      const isPod = textAt(target, 'kind') === 'Pod';
      const owner = `${textAt(target, 'namespace') || namespace}/${textAt(target, 'name')}`;
      if (!isPod || owner !== name) continue;
      nodeName = textAt(endpoint, 'nodeName');
      for (const text of arrayAt(endpoint, 'addresses')) {
        const address = typeof text === 'string' ? canonicalIp(text) : undefined;
        if (address !== undefined) addresses.add(address);
      }
    }
  }
  if (addresses.size === 0) return undefined;
  return { name, addresses: [...addresses], nodeName, isHostNetwork: false };
}
