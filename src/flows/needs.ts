import type { ServicePortId } from '../forwarding/model.ts';
import type { EndpointKey, FlowTarget, FrontendKey } from './keys.ts';

/** A frontend whose flows must be looked at. */
export interface Need {
  readonly target: FlowTarget;
  /** Whose it is, or was. */
  readonly id: ServicePortId;
  /** Endpoints that it had and lost since its flows were last looked at, oldest first. */
  readonly former: ReadonlySet<EndpointKey>;
}

export type Needs = Map<FrontendKey, Need>;

/** While nothing can be looked at for days, what is remembered must not grow for days. */
const MOST_FORMER = 4096;

/** Adds a need to what is needed of the same frontend already; what is newer goes in later. */
export function addNeed(needs: Needs, key: FrontendKey, need: Need): void {
  const known = needs.get(key);
  if (known === undefined) {
    needs.set(key, need);
    return;
  }
  const former = [...known.former.union(need.former)];
  needs.set(key, { ...need, former: new Set(former.slice(-MOST_FORMER)) });
}

/** Puts back what was taken and not done, as older than what came meanwhile. */
export function putBack(needs: Needs, taken: Needs): Needs {
  const all: Needs = new Map(taken);
  for (const [key, need] of needs) addNeed(all, key, need);
  return all;
}
