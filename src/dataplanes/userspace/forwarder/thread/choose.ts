import type { Avoidance } from './avoidance.ts';
import type { Counts } from './counts.ts';
import type { List, ListedEndpoint } from './lists.ts';

/** Draws of one that can be used, before the list is searched. */
const MOST_DRAWS = 8;

/** What the choice looks at; `random` returns a number from 0 to below 1. */
export interface ChoiceOf {
  readonly counts: Pick<Counts, 'open'>;
  readonly avoidance: Pick<Avoidance, 'isAvoided'>;
  readonly random: () => number;
}

interface ChoiceOn {
  readonly tried: readonly number[] | undefined;
  readonly nowMs: number;
}

/**
 * Of two endpoints drawn at random the one with fewer open connections. Never one that was tried;
 * one that is avoided only if no other is left. Undefined: none is left.
 */
export function choose(of: ChoiceOf, list: List, on: ChoiceOn): ListedEndpoint | undefined {
  const count = list.endpoints.length;
  const first = draw(of, list, on);
  // Few or none can be used: to search twice would cost twice as much, for no better choice.
  if (first === undefined) return searched(of, list, on);
  if (count === 1) return first;
  const second = draw(of, list, on);
  if (second === undefined || second === first) return first;
  return of.counts.open(second.slot) < of.counts.open(first.slot) ? second : first;
}

/** Each that can be used is as likely as the others, which a search would not give. */
function draw(of: ChoiceOf, { endpoints }: List, on: ChoiceOn): ListedEndpoint | undefined {
  for (let count = 0; count < MOST_DRAWS; count++) {
    const endpoint = endpoints[Math.floor(of.random() * endpoints.length)];
    if (endpoint === undefined) return undefined;
    if (on.tried?.includes(endpoint.slot)) continue;
    if (!of.avoidance.isAvoided(endpoint.slot, on.nowMs)) return endpoint;
  }
  return undefined;
}

/** From a random place on, the first that is usable; else the first that is only avoided. */
function searched(of: ChoiceOf, { endpoints }: List, on: ChoiceOn): ListedEndpoint | undefined {
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
