import { acceptedBy, CORPUS } from '../../../conformance/corpus.ts';
import type { Scenario } from '../../../conformance/scenario.ts';
import type { ApiVersion } from '../../../lab/parts/api-version.ts';

/** One scenario for each thing that Fairlead reads of the API, quick ones. */
const NAMES: readonly string[] = [
  'cluster-ip/tcp-from-pods',
  'cluster-ip/udp',
  'cluster-ip/follows-readiness',
  // Only where the service ranges are known.
  'cluster-ip/unassigned-address',
  'node-port/from-outside',
  'load-balancer/from-outside',
  'external-policy/node-port-from-outside',
  'internal-policy/local-only',
  'affinity/pods-to-cluster-ip',
  'topology/same-zone-alias',
  'topology/same-zone',
  'topology/node-hints-before-zone-hints',
  'slices/by-hand',
  'endpoint-changes/readiness-flips',
  'service-lifecycle/deleted',
];

export interface Chosen {
  readonly scenarios: readonly Scenario[];
  /** Names of those that the API server does not accept. */
  readonly leftOut: readonly string[];
}

export function chosenFor(version: ApiVersion, names: readonly string[] = NAMES): Chosen {
  const wanted = CORPUS.filter(({ name }) => names.includes(name));
  const unknown = names.filter((name) => !wanted.some((scenario) => scenario.name === name));
  if (unknown.length > 0) throw new Error(`no such scenarios: ${unknown.join(', ')}`);
  const scenarios = acceptedBy(version, wanted);
  const leftOut = wanted.filter((scenario) => !scenarios.includes(scenario));
  return { scenarios, leftOut: leftOut.map(({ name }) => name) };
}
