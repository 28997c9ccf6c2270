import type { Attachment, DataPlane } from '../dataplanes/contract.ts';
import type { Contents } from '../forwarding/contents.ts';
import type { Agent } from './agent.ts';
import { type Failure, failureOf } from './failure.ts';
import type { RangeRoute, ServiceRoutes } from './service-routes.ts';
import type { AgentSnapshot } from './snapshot.ts';

/** Connections to pods through the API server. */
export interface TunnelCounts {
  readonly open: number;
  readonly idle: number;
  readonly openedTotal: number;
  readonly connectionsTotal: number;
  readonly waiting: number;
}

/**
 * The data of `fairlead status`: the snapshot, and what is read only on request. A mode may add fields
 * of its own.
 */
export interface StatusPage extends AgentSnapshot {
  /** Absent in the answer of an older version. */
  readonly contents?: Contents;
  /** Absent where the mode does not report it, or the kernel did not. */
  readonly attachments?: readonly Attachment[];
  /** Why the attached programs could not be read. */
  readonly attachmentsFailure?: Failure;
  /** Absent where Fairlead keeps no routes. */
  readonly serviceRoutes?: readonly RangeRoute[];
  /** Absent where pods are reached by packets. */
  readonly podTunnels?: TunnelCounts;
}

export async function statusPage(parts: {
  readonly agent: Agent;
  readonly plane: DataPlane;
  readonly statusFields?: (atMs: number) => Promise<object>;
  readonly routes?: ServiceRoutes;
  readonly podNetwork?: { counts(): TunnelCounts };
}): Promise<StatusPage> {
  const { agent, plane, routes, podNetwork } = parts;
  const snapshot = agent.snapshot();
  const page = {
    ...snapshot,
    contents: agent.table.contents.counts,
    ...(routes ? { serviceRoutes: routes.report() } : {}),
    ...(podNetwork ? { podTunnels: podNetwork.counts() } : {}),
    ...(await parts.statusFields?.(snapshot.atMs)),
  };
  try {
    const attachments = await plane.read('attachments');
    return attachments === undefined ? page : { ...page, attachments };
  } catch (error) {
    return { ...page, attachmentsFailure: failureOf(error, page.atMs) };
  }
}
