import type { Endpoint, Forwarding, Frontend, NotServed, Outcome } from './model.ts';
import { SOURCE_CLASSES } from './model.ts';
import { equalSchedulers } from './scheduler.ts';

/** Whether two rows are equal for a data plane. */
export function equalForwarding(a: Forwarding | undefined, b: Forwarding | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.affinitySeconds === b.affinitySeconds &&
    a.healthCheckPort === b.healthCheckPort &&
    a.onlyPackets === b.onlyPackets &&
    a.schedulerFault === b.schedulerFault &&
    equalSchedulers(a.scheduler, b.scheduler) &&
    equalEndpoints(a.clusterEndpoints, b.clusterEndpoints) &&
    equalEndpoints(a.localEndpoints, b.localEndpoints) &&
    equalFrontends(a.frontends, b.frontends)
  );
}

export function equalFrontends(a: readonly Frontend[], b: readonly Frontend[]): boolean {
  return equalLists(a, b, equalFrontend);
}

export function equalEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  return equalLists(a, b, equalEndpoint);
}

export function equalTexts(a: readonly string[], b: readonly string[]): boolean {
  return equalLists(a, b, (x, y) => x === y);
}

export function equalLists<T>(
  a: readonly T[],
  b: readonly T[],
  equal: (x: T, y: T) => boolean,
): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((item, index) => item === b[index] || equal(item, b[index] as T));
}

function equalFrontend(a: Frontend, b: Frontend): boolean {
  return (
    a.kind === b.kind &&
    a.address === b.address &&
    a.port === b.port &&
    equalNotServed(a.notServed, b.notServed) &&
    equalSources(a.allowedSources, b.allowedSources) &&
    equalOutcomes(a.outcomes, b.outcomes)
  );
}

function equalNotServed(a: NotServed | undefined, b: NotServed | undefined): boolean {
  if (a === b) return true;
  if (a?.reason === 'other-service' && b?.reason === 'other-service')
    return a.service === b.service;
  if (a?.reason === 'service-range' && b?.reason === 'service-range') return a.range === b.range;
  if (a?.reason === 'outside-ranges' && b?.reason === 'outside-ranges')
    return equalTexts(a.ranges, b.ranges);
  return a?.reason === b?.reason;
}

function equalSources(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalTexts(a, b);
}

export function equalOutcomes(a: Frontend['outcomes'], b: Frontend['outcomes']): boolean {
  return a === b || SOURCE_CLASSES.every((source) => equalOutcome(a[source], b[source]));
}

function equalOutcome(a: Outcome, b: Outcome): boolean {
  if (a.action === 'reject' && b.action === 'reject') return a.reason === b.reason;
  if (a.action !== 'forward' || b.action !== 'forward') return a.action === b.action;
  return a.list === b.list && a.masquerade === b.masquerade;
}

function equalEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.address === b.address && a.port === b.port && a.local === b.local;
}
