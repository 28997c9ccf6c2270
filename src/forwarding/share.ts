import { equalEndpoints, equalFrontends } from './equal.ts';
import type { Forwarding } from './model.ts';
import { RowFinder } from './row-changes.ts';
import { equalSchedulers } from './scheduler.ts';
import type { InTurns } from './turns.ts';
import type { Compiled } from './under-way.ts';

const ENDPOINTS_COMPARED_FOR_ONE_READ = 8;

/** New rows of a Service, with what is equal in those that it had before. */
export function* sharedRows(
  rows: readonly Forwarding[],
  before: readonly Forwarding[],
): InTurns<Compiled> {
  if (before.length === 0) return { rows, size: rows.reduce((sum, row) => sum + sizeOf(row), 0) };
  const finder = new RowFinder(before);
  const shared: Forwarding[] = [];
  let size = 0;
  for (const [index, row] of rows.entries()) {
    shared.push(sharing(row, finder.find(row.id, index)));
    size += sizeOf(row);
    yield sizeOf(row) / ENDPOINTS_COMPARED_FOR_ONE_READ;
  }
  return { rows: shared, size };
}

function sizeOf({ frontends, clusterEndpoints, localEndpoints }: Forwarding): number {
  return frontends.length + clusterEndpoints.length + localEndpoints.length;
}

/**
 * Reuses equal lists of the previous row, or the previous row itself, so that equality can be
 * tested by identity.
 */
function sharing(row: Forwarding, before: Forwarding | undefined): Forwarding {
  if (before === undefined || row === before) return row;
  const frontends = equalFrontends(row.frontends, before.frontends);
  const cluster = equalEndpoints(row.clusterEndpoints, before.clusterEndpoints);
  const local = equalEndpoints(row.localEndpoints, before.localEndpoints);
  const isSame =
    row.affinitySeconds === before.affinitySeconds &&
    row.healthCheckPort === before.healthCheckPort &&
    row.onlyPackets === before.onlyPackets &&
    row.schedulerFault === before.schedulerFault &&
    equalSchedulers(row.scheduler, before.scheduler);
  if (frontends && cluster && local && isSame) return before;
  return {
    ...row,
    frontends: frontends ? before.frontends : row.frontends,
    clusterEndpoints: cluster ? before.clusterEndpoints : row.clusterEndpoints,
    localEndpoints: local ? before.localEndpoints : row.localEndpoints,
  };
}
