import type { RowChange } from '../../../dataplanes/contract.ts';
import { knownRow } from '../../../dataplanes/row-change.ts';
import { equalFrontends } from '../../../forwarding/equal.ts';
import {
  type Endpoint,
  type Forwarding,
  type Frontend,
  type Outcome,
  SOURCE_CLASSES,
  servicePortKey,
} from '../../../forwarding/model.ts';
import type {
  WireChange,
  WireEndpoint,
  WireFrontend,
  WireListChange,
  WireRow,
  WireTreatment,
} from './forwarder-protocol.ts';

/** Undefined: none of it is forwarded by a process. UDP and SCTP stay in the kernel. */
export function wireRow(row: Forwarding | undefined): WireRow | undefined {
  if (row === undefined || row.id.protocol !== 'TCP') return undefined;
  const frontends = wireFrontends(row.frontends);
  if (frontends.length === 0) return undefined;
  return {
    key: servicePortKey(row.id),
    affinitySeconds: row.affinitySeconds,
    frontends,
    cluster: endpointsOf(row, 'cluster').map(wireEndpoint),
    local: endpointsOf(row, 'local').map(wireEndpoint),
  };
}

/** What the forwarder must change; undefined: nothing. */
export function wireChange({ key, id, before, after }: RowChange): WireChange | undefined {
  if (id.protocol !== 'TCP') return undefined;
  const old = knownRow(before);
  if (old !== undefined && after !== undefined && isForwarded(old) && isForwarded(after)) {
    return difference(old, after);
  }
  const row = wireRow(after);
  if (row !== undefined) return { set: row };
  return before === 'unknown' || isForwarded(old) ? { delete: key } : undefined;
}

function isForwarded(row: Forwarding | undefined): boolean {
  return row?.id.protocol === 'TCP' && row.frontends.some(hasTreatment);
}

/** Only lists that differ are compared, and only what differs is named. */
function difference(before: Forwarding, after: Forwarding): WireChange | undefined {
  const cluster = listChange(endpointsOf(before, 'cluster'), endpointsOf(after, 'cluster'));
  const local = listChange(endpointsOf(before, 'local'), endpointsOf(after, 'local'));
  const hasFrontends = !equalFrontends(before.frontends, after.frontends);
  const hasAffinity = before.affinitySeconds !== after.affinitySeconds;
  if (!cluster && !local && !hasFrontends && !hasAffinity) return undefined;
  return {
    change: servicePortKey(after.id),
    ...(hasFrontends ? { frontends: wireFrontends(after.frontends) } : {}),
    ...(hasAffinity ? { affinitySeconds: after.affinitySeconds } : {}),
    ...(cluster ? { cluster } : {}),
    ...(local ? { local } : {}),
  };
}

/** Lists are sorted, so an added or removed endpoint leaves the ends as they are. */
function listChange(
  before: readonly Endpoint[],
  after: readonly Endpoint[],
): WireListChange | undefined {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isSame(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const old = new Set(before.slice(head, before.length - tail).map(wireEndpoint));
  const now = new Set(after.slice(head, after.length - tail).map(wireEndpoint));
  const added = [...now.difference(old)];
  const removed = [...old.difference(now)];
  return added.length + removed.length === 0 ? undefined : { added, removed };
}

function isSame(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  return a === b || (a?.address === b?.address && a?.port === b?.port);
}

/** A list that no frontend uses is not sent. */
function endpointsOf(row: Forwarding, list: 'cluster' | 'local'): readonly Endpoint[] {
  const isUsed = row.frontends.some(
    ({ notServed, outcomes }) =>
      notServed === undefined &&
      SOURCE_CLASSES.some((source) => treatment(outcomes[source])?.list === list),
  );
  if (!isUsed) return [];
  return list === 'cluster' ? row.clusterEndpoints : row.localEndpoints;
}

function wireFrontends(frontends: readonly Frontend[]): WireFrontend[] {
  return frontends.filter(hasTreatment).map(({ address, port, outcomes }) => ({
    address,
    port,
    treatments: {
      pod: treatment(outcomes.pod),
      host: treatment(outcomes.host),
      outside: treatment(outcomes.outside),
    },
  }));
}

function hasTreatment({ notServed, outcomes }: Frontend): boolean {
  return (
    notServed === undefined && SOURCE_CLASSES.some((source) => treatment(outcomes[source]) !== null)
  );
}

function treatment(outcome: Outcome): WireTreatment {
  if (outcome.action !== 'forward') return null;
  return { list: outcome.list, masquerade: outcome.masquerade };
}

function wireEndpoint({ address, port }: Endpoint): WireEndpoint {
  return `${address} ${port}`;
}
