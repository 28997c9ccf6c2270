import type { Avoidance } from './avoidance.ts';
import type { Counts } from './counts.ts';
import type { List, ListedEndpoint } from './lists.ts';

/** What the choice looks at; `random` returns a number from 0 to below 1. */
export interface ChoiceOf {
  readonly counts: Pick<Counts, 'open'>;
  readonly avoidance: Pick<Avoidance, 'isAvoided'>;
  readonly random: () => number;
}

/**
 * Of two endpoints drawn at random the one with fewer open connections. Never one that was tried;
 * one that is avoided only if no other is left. Undefined: none is left.
 */
export function choose(
  of: ChoiceOf,
  list: List,
  on: { readonly tried: readonly number[] | undefined; readonly nowMs: number },
): ListedEndpoint | undefined {
  const first = draw(of, list, on);
  const count = list.endpoints.length;
  if (first === undefined || count === 1) return first;
  const second = draw(of, list, on);
  if (second === undefined || second === first) return first;
  // The first may be avoided only if every other one is.
  return of.counts.open(second.slot) < of.counts.open(first.slot) ? second : first;
}

/** From a random place on, the first that is usable; else the first that is only avoided. */
function draw(
  of: ChoiceOf,
  list: List,
  on: { readonly tried: readonly number[] | undefined; readonly nowMs: number },
): ListedEndpoint | undefined {
  const { endpoints } = list;
  const count = endpoints.length;
  const start = Math.floor(of.random() * count);
  let avoided: ListedEndpoint | undefined;
  for (let step = 0; step < count; step++) {
    const at = start + step;
    const endpoint = endpoints[at < count ? at : at - count] as ListedEndpoint;
    if (on.tried?.includes(endpoint.slot)) continue;
    if (!of.avoidance.isAvoided(endpoint.slot, on.nowMs)) return endpoint;
    avoided ??= endpoint;
  }
  return avoided;
}
