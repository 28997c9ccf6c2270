import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Difference } from '../../../dataplanes/contract.ts';
import { Differences } from '../../../dataplanes/differences.ts';
import { type Forwarding, type ServicePortKey, servicePortKey } from '../../../forwarding/model.ts';
import type { ForwarderLink } from './forwarder-link.ts';
import { keyOf, serviceOf, type WireChange, type WireListChange } from './forwarder-protocol.ts';
import { inGroups } from './in-groups.ts';
import { DECLINED, rowDigest } from './row-digest.ts';
import { wireRow } from './wire-rows.ts';

/** So many changes are parsed by the forwarder's main thread between two pulses. */
const CHANGES_PER_MESSAGE = 500;
/** A frame of so many endpoints is a megabyte: far below what the forwarder takes. */
const ENDPOINTS_PER_MESSAGE = 20_000;
/** Rows and endpoints compared per event loop iteration: a few milliseconds. */
const COMPARED_AT_ONCE = 4000;
const FILL_MS = 15_000;
/** The agent writes nothing meanwhile: a forwarder that takes longer is distrusted instead. */
export const CHANGE_MS = 3000;

/** How the rows of a forwarder differ from the desired ones. */
export interface RowDifferences {
  readonly changes: readonly WireChange[];
  readonly differences: Differences;
}

export async function compareRows(
  digests: readonly (readonly [ServicePortKey, string])[],
  rows: readonly Forwarding[],
  differences = new Differences(),
): Promise<RowDifferences> {
  const left = new Map(digests);
  const changes: WireChange[] = [];
  let compared = 0;
  for (const row of rows) {
    compared += 16 + row.clusterEndpoints.length + row.localEndpoints.length;
    if (compared > COMPARED_AT_ONCE) {
      compared = 0;
      await nextIteration();
    }
    const wire = wireRow(row);
    if (wire === undefined) continue;
    const found = left.get(wire.key);
    left.delete(wire.key);
    if (found === rowDigest(wire)) continue;
    changes.push({ set: wire });
    // There may be room by now.
    if (found === DECLINED) continue;
    differences.add(() => differenceOf(found === undefined ? 'missing' : 'different', wire.key));
  }
  for (const key of left.keys()) {
    changes.push({ delete: key });
    differences.add(() => differenceOf('foreign', key));
  }
  return { changes, differences };
}

export interface Filled {
  readonly compared: RowDifferences;
  readonly declined: ReadonlySet<ServicePortKey>;
}

/** Makes the rows of a forwarder the desired ones. Resolves when all of its threads have them. */
export async function fill(link: ForwarderLink, rows: readonly Forwarding[]): Promise<Filled> {
  const compared = await compareRows(await link.ask<'digests'>({ do: 'digests' }, FILL_MS), rows);
  const declined = await send(link, compared.changes, FILL_MS);
  return { compared, declined };
}

/** Resolves with the rows that were declined. The deadline is that of each message. */
export async function send(
  link: Pick<ForwarderLink, 'ask'>,
  changes: readonly WireChange[],
  deadlineMs: number,
): Promise<ReadonlySet<ServicePortKey>> {
  const declined = new Set<ServicePortKey>();
  const parts = changes.flatMap(partsOf);
  for (let from = 0; from < parts.length; ) {
    const end = endOfMessage(parts, from);
    const message = parts.slice(from, end);
    const answer = await link.ask<'apply'>({ do: 'apply', changes: message }, deadlineMs);
    for (const change of message) declined.delete(keyOf(change));
    for (const key of answer.declined) declined.add(key);
    from = end;
  }
  return declined;
}

/** A row is as large as its tenant makes it, and the forwarder answers others between two messages. */
function partsOf(change: WireChange): readonly WireChange[] {
  if (endpointCountOf(change) <= ENDPOINTS_PER_MESSAGE || 'delete' in change) return [change];
  if ('set' in change) {
    const { key, cluster, local } = change.set;
    const first = {
      set: { ...change.set, cluster: cluster.slice(0, ENDPOINTS_PER_MESSAGE), local: [] },
    };
    return [
      first,
      ...listParts(key, 'cluster', { added: cluster.slice(ENDPOINTS_PER_MESSAGE), removed: [] }),
      ...listParts(key, 'local', { added: local, removed: [] }),
    ];
  }
  const { change: key, cluster, local, ...rest } = change;
  return [
    ...(Object.keys(rest).length > 0 ? [{ change: key, ...rest }] : []),
    ...(cluster ? listParts(key, 'cluster', cluster) : []),
    ...(local ? listParts(key, 'local', local) : []),
  ];
}

/** Added before removed: a list is not empty in between. */
function listParts(
  key: ServicePortKey,
  list: 'cluster' | 'local',
  { added, removed }: WireListChange,
): WireChange[] {
  const part = (change: WireListChange): WireChange => ({ change: key, [list]: change });
  return [
    ...inGroups(added, ENDPOINTS_PER_MESSAGE).map((group) => part({ added: group, removed: [] })),
    ...inGroups(removed, ENDPOINTS_PER_MESSAGE).map((group) => part({ added: [], removed: group })),
  ];
}

function endOfMessage(changes: readonly WireChange[], from: number): number {
  let endpoints = 0;
  let end = from;
  for (; end < changes.length && end < from + CHANGES_PER_MESSAGE; end++) {
    endpoints += endpointCountOf(changes[end] as WireChange);
    if (end > from && endpoints > ENDPOINTS_PER_MESSAGE) break;
  }
  return end;
}

function endpointCountOf(change: WireChange): number {
  if ('set' in change) return change.set.cluster.length + change.set.local.length;
  if ('delete' in change) return 0;
  const { cluster, local } = change;
  return [cluster, local].reduce(
    (sum, list) => sum + (list?.added.length ?? 0) + (list?.removed.length ?? 0),
    0,
  );
}

export function everyRow(rows: readonly Forwarding[]): Set<ServicePortKey> {
  return new Set(rows.map(({ id }) => servicePortKey(id)));
}

function differenceOf(kind: Difference['kind'], key: ServicePortKey): Difference {
  return { kind, object: `forwarder row ${key}`, service: serviceOf(key) };
}
