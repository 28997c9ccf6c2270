import { arrayAt, isRecord, recordAt, textAt } from '../json.ts';
import type { SliceObject } from '../objects.ts';
import { isName } from './meta.ts';

/**
 * Adds the names of the pods behind a slice, which only connections through the API server need:
 * every other proxy saves their memory.
 */
export function withPodNames(slice: SliceObject, raw: unknown): SliceObject {
  const names = new Map<string, string>();
  for (const endpoint of isRecord(raw) ? arrayAt(raw, 'endpoints') : []) {
    if (!isRecord(endpoint)) continue;
    const [address] = arrayAt(endpoint, 'addresses');
    const target = recordAt(endpoint, 'targetRef');
    const name = textAt(target, 'name');
    const isPod = textAt(target, 'kind') === 'Pod' && isName(name);
    if (typeof address === 'string' && isPod) names.set(address, name);
  }
  const endpoints = slice.endpoints.map((endpoint) => {
    const podName = names.get(endpoint.address);
    return podName === undefined ? endpoint : { ...endpoint, podName };
  });
  return { ...slice, endpoints };
}
