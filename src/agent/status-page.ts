import type { Attachment, DataPlane, ForwarderReport, IpvsReport } from '../dataplanes/contract.ts';
import type { Contents } from '../forwarding/contents.ts';
import type { Agent } from './agent.ts';
import { type Failure, failureOf } from './failure.ts';
import type { RangeRoute, ServiceRoutes } from './service-routes.ts';
import type { AgentSnapshot } from './snapshot.ts';

/** Absent in modes without IPVS; one of the two. */
interface IpvsPart {
  readonly ipvs?: IpvsReport;
  /** Why it could not be read. */
  readonly ipvsFailure?: Failure;
}

/** Connections to pods through the API server. */
export interface TunnelCounts {
  readonly open: number;
  readonly idle: number;
  readonly openedTotal: number;
  readonly connectionsTotal: number;
  readonly waiting: number;
}

/** The data of `fairlead status`: the snapshot, and what is read only on request. */
export interface StatusPage extends AgentSnapshot, IpvsPart {
  /** Absent in the answer of an older version. */
  readonly contents?: Contents;
  /** Absent where the mode does not report it, or the kernel did not. */
  readonly attachments?: readonly Attachment[];
  /** Why the attached programs could not be read. */
  readonly attachmentsFailure?: Failure;
  /** Absent in modes without a process of their own. */
  readonly forwarder?: ForwarderReport;
  /** Absent where Fairlead keeps no routes. */
  readonly serviceRoutes?: readonly RangeRoute[];
  /** Absent where pods are reached by packets. */
  readonly podTunnels?: TunnelCounts;
}

export async function statusPage(of: {
  readonly agent: Agent;
  readonly plane: DataPlane;
  readonly routes?: ServiceRoutes;
  readonly podNetwork?: { counts(): TunnelCounts };
}): Promise<StatusPage> {
  const { agent, plane, routes, podNetwork } = of;
  const page = {
    ...agent.snapshot(),
    contents: agent.table.contents.counts,
    ...(routes ? { serviceRoutes: routes.report() } : {}),
    ...(podNetwork ? { podTunnels: podNetwork.counts() } : {}),
    ...(plane.forwarder ? { forwarder: await plane.forwarder() } : {}),
    ...(await ipvsOf(plane, agent)),
  };
  try {
    const attachments = await plane.attachments?.();
    return attachments === undefined ? page : { ...page, attachments };
  } catch (error) {
    return { ...page, attachmentsFailure: failureOf(error, page.atMs) };
  }
}

async function ipvsOf(plane: DataPlane, agent: Agent): Promise<IpvsPart> {
  if (plane.ipvs === undefined) return {};
  try {
    return { ipvs: await plane.ipvs() };
  } catch (error) {
    return { ipvsFailure: failureOf(error, agent.snapshot().atMs) };
  }
}
