import { equalEndpoints, equalFrontends } from './equal.ts';
import type { Forwarding } from './model.ts';
import { equalSchedulers } from './scheduler.ts';

/**
 * Reuses equal lists of the previous row, or the previous row itself, so that equality can be
 * tested by identity.
 */
export function sharing(row: Forwarding, before: Forwarding | undefined): Forwarding {
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
