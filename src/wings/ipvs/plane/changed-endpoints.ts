import type { Endpoint } from '../../../forwarding/model.ts';
import { destinationId } from './server-state.ts';

export interface ChangedEndpoints {
  readonly added: readonly Endpoint[];
  readonly removed: readonly Endpoint[];
}

/**
 * Both are sorted, so a changed endpoint lies between a common beginning and a common end: nothing is
 * allocated for those, of which a large row has tens of thousands.
 */
export function changedEndpoints(
  before: readonly Endpoint[],
  after: readonly Endpoint[],
): ChangedEndpoints {
  if (before === after) return { added: [], removed: [] };
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const [was, is] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ];
  const [wasIds, isIds] = [new Set(was.map(destinationId)), new Set(is.map(destinationId))];
  return {
    added: is.filter((endpoint) => !wasIds.has(destinationId(endpoint))),
    removed: was.filter((endpoint) => !isIds.has(destinationId(endpoint))),
  };
}

function isSame(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  return a === b || (a?.address === b?.address && a?.port === b?.port);
}
