import type { ServicePortId } from '../forwarding/model.ts';
import type { EndpointKey, FlowTarget, FrontendKey } from './flow-keys.ts';

/** A frontend whose flows must be checked. */
export interface Need {
  readonly target: FlowTarget;
  /** The Service that has or had it. */
  readonly id: ServicePortId;
  /** Endpoints that it lost since its flows were last checked, oldest first. */
  readonly former: ReadonlySet<EndpointKey>;
}

export type Needs = Map<FrontendKey, Need>;

/** Limit, so that memory does not grow while conntrack cannot be read for days. */
const MOST_FORMER = 4096;

/** Merges a need with an earlier one of the same frontend. */
export function addNeed(needs: Needs, key: FrontendKey, need: Need): void {
  const known = needs.get(key);
  if (known === undefined) {
    needs.set(key, need);
    return;
  }
  const former = [...known.former.union(need.former)];
  needs.set(key, { ...need, former: new Set(former.slice(-MOST_FORMER)) });
}

/** Puts back needs that were not handled, as older than newer ones. */
export function putBack(needs: Needs, taken: Needs): Needs {
  const all: Needs = new Map(taken);
  for (const [key, need] of needs) addNeed(all, key, need);
  return all;
}
