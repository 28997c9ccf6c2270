import { endpointKey } from '../forwarding/endpoints.ts';
import type {
  Endpoint,
  Forwarding,
  Frontend,
  Outcome,
  ServicePortKey,
  SourceClass,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/row-changes.ts';
import { frontendName } from './explain-words.ts';

/** How one row would change. */
export interface RowDifference {
  readonly row: ServicePortKey;
  readonly is: 'added' | 'removed' | 'changed';
  readonly endpoints: ListDifference;
  readonly endpointsHere: ListDifference;
  readonly frontends: readonly FrontendDifference[];
  /** In seconds; absent: as before. */
  readonly affinity?: { readonly before: number; readonly after: number };
}

export interface ListDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface FrontendDifference {
  readonly at: string;
  /** Undefined: there is no such frontend. */
  readonly before?: FrontendState;
  readonly after?: FrontendState;
}

export interface FrontendState {
  readonly outcomes: Readonly<Record<SourceClass, StatedOutcome>>;
  readonly allowedSources?: readonly string[];
  readonly notServed?: Frontend['notServed'];
}

/** An outcome with the number of endpoints that it leads to. */
export type StatedOutcome = Outcome & { readonly endpointCount: number };

/** Row by row, what a change of objects would change. */
export function whatIf(changes: readonly Change[]): readonly RowDifference[] {
  const differences = changes.map(({ key, before, after }) => ({
    row: key,
    is: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    endpoints: listDifference(before?.clusterEndpoints, after?.clusterEndpoints),
    endpointsHere: listDifference(before?.localEndpoints, after?.localEndpoints),
    frontends: frontendDifferences(before, after),
    ...affinityDifference(before, after),
  })) satisfies RowDifference[];
  return differences.sort((a, b) => (a.row < b.row ? -1 : 1));
}

function listDifference(
  before: readonly Endpoint[] = [],
  after: readonly Endpoint[] = [],
): ListDifference {
  const had = new Set(before.map(endpointKey));
  const has = new Set(after.map(endpointKey));
  return { added: [...has.difference(had)], removed: [...had.difference(has)] };
}

function frontendDifferences(
  before: Forwarding | undefined,
  after: Forwarding | undefined,
): readonly FrontendDifference[] {
  const had = statesOf(before);
  const has = statesOf(after);
  const all = [...new Set([...had.keys(), ...has.keys()])];
  return all.flatMap((at) => {
    const [old, now] = [had.get(at), has.get(at)];
    if (old && now && isSameOutcome(old, now)) return [];
    return [{ at, ...(old ? { before: old } : {}), ...(now ? { after: now } : {}) }];
  });
}

/** Another number of endpoints is no difference of a frontend: it is that of the list. */
function isSameOutcome(a: FrontendState, b: FrontendState): boolean {
  const withoutCount = (state: FrontendState): string =>
    JSON.stringify(state, (name, value: unknown) => (name === 'endpointCount' ? 0 : value));
  return withoutCount(a) === withoutCount(b);
}

function statesOf(row: Forwarding | undefined): ReadonlyMap<string, FrontendState> {
  if (row === undefined) return new Map();
  return new Map(
    row.frontends.map((frontend) => [
      frontendName(frontend, row.id.protocol),
      stateOf(frontend, row),
    ]),
  );
}

function stateOf(
  { outcomes, allowedSources, notServed }: Frontend,
  row: Forwarding,
): FrontendState {
  const { pod, host, outside } = outcomes;
  const stated = (outcome: Outcome): StatedOutcome => ({
    ...outcome,
    endpointCount: count(outcome, row),
  });
  return {
    outcomes: { pod: stated(pod), host: stated(host), outside: stated(outside) },
    ...(allowedSources ? { allowedSources } : {}),
    ...(notServed ? { notServed } : {}),
  };
}

function count(outcome: Outcome, { clusterEndpoints, localEndpoints }: Forwarding): number {
  if (outcome.action !== 'forward') return 0;
  return (outcome.list === 'local' ? localEndpoints : clusterEndpoints).length;
}

function affinityDifference(
  before: Forwarding | undefined,
  after: Forwarding | undefined,
): Pick<RowDifference, 'affinity'> {
  if (before === undefined || after === undefined) return {};
  if (before.affinitySeconds === after.affinitySeconds) return {};
  return { affinity: { before: before.affinitySeconds, after: after.affinitySeconds } };
}
