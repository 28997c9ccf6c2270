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

export interface MachineFinding {
  readonly code: string;
  readonly what: string;
  readonly next?: string;
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
  /** Absent where the mode can be used. */
  readonly fallback?: Failure & { readonly from: string; readonly to: string };
  /** What the cheap checks of `fairlead doctor` find on the machine. Absent in older versions. */
  readonly machine?: readonly MachineFinding[];
  /** Changed fields of the configuration file that wait for a restart. */
  readonly awaitsRestart?: readonly string[];
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
  readonly machine?: () => Promise<readonly MachineFinding[]>;
  readonly awaitsRestart?: () => readonly string[];
}): Promise<StatusPage> {
  const { agent, plane, routes, podNetwork } = parts;
  const snapshot = agent.snapshot();
  const fallback = await plane.read('fallback');
  const page = {
    ...snapshot,
    contents: agent.table.contents.counts,
    ...(fallback
      ? {
          fallback: {
            from: fallback.from,
            to: fallback.to,
            ...failureOf(fallback.error, snapshot.atMs),
          },
        }
      : {}),
    ...(parts.machine ? { machine: await parts.machine() } : {}),
    awaitsRestart: parts.awaitsRestart?.() ?? [],
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
