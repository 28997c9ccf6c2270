import type { Endpoint, Forwarding, Frontend, Outcome } from './model.ts';
import { SOURCE_CLASSES } from './model.ts';

/** Whether two rows mean the same to a data plane. */
export function equalForwarding(a: Forwarding | undefined, b: Forwarding | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.affinitySeconds === b.affinitySeconds &&
    a.healthCheckPort === b.healthCheckPort &&
    equalLists(a.clusterEndpoints, b.clusterEndpoints, equalEndpoint) &&
    equalLists(a.localEndpoints, b.localEndpoints, equalEndpoint) &&
    equalLists(a.frontends, b.frontends, equalFrontend)
  );
}

function equalFrontend(a: Frontend, b: Frontend): boolean {
  return (
    a.kind === b.kind &&
    a.address === b.address &&
    a.port === b.port &&
    a.lostTo === b.lostTo &&
    equalSources(a.allowedSources, b.allowedSources) &&
    SOURCE_CLASSES.every((source) => equalOutcome(a.outcomes[source], b.outcomes[source]))
  );
}

function equalSources(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equalLists(a, b, (x, y) => x === y);
}

function equalOutcome(a: Outcome, b: Outcome): boolean {
  if (a.action !== 'forward' || b.action !== 'forward') return a.action === b.action;
  return a.list === b.list && a.masquerade === b.masquerade;
}

function equalEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.address === b.address && a.port === b.port && a.local === b.local;
}

function equalLists<T>(a: readonly T[], b: readonly T[], equal: (x: T, y: T) => boolean): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index] as T));
}
