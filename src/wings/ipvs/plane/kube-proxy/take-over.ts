import { destroyIpset } from '../../../../linux/ipvs/ipset/ipset.ts';
import {
  type Ipvs,
  type IpvsWrite,
  type VirtualServerKey,
  virtualServerId,
} from '../../../../linux/ipvs/ipvs-model.ts';
import { deleteLink } from '../../../../linux/route/change-links.ts';
import type { Clock } from '../../../../time/clock.ts';
import { KUBE_PROXY_DEVICE } from './kube-proxy-names.ts';
import { findLeftovers, type KubeProxyLeftovers, outsideOf } from './leftovers.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

export interface TakeOverOptions {
  readonly ipvs: Ipvs;
  /**
   * For a mode with virtual servers of its own: these are its own from now on, and their connections
   * go on without kube-proxy's device. Undefined: their connections need it until they end.
   */
  readonly adopt?: (servers: readonly VirtualServerKey[]) => Promise<void>;
  /** Virtual servers in these CIDRs stay as they are: `excludeCIDRs` of kube-proxy's file. */
  readonly excludeCidrs?: readonly string[];
  readonly clock: Clock;
  /** Called before the first deletion, if there is anything to delete. */
  readonly onFound?: (found: KubeProxyLeftovers) => void;
}

/**
 * Removes what kube-proxy has left of its ipvs mode. Call it when the running mode serves everything
 * and kube-proxy's chains of iptables are gone: its sets stay as long as a rule uses them. Resolves
 * when nothing is left, or the signal is aborted.
 */
export async function takeOverIpvs(options: TakeOverOptions, signal: AbortSignal): Promise<void> {
  const all = await findLeftovers(options.ipvs);
  const found = { ...all, servers: outsideOf(options.excludeCidrs ?? [], all.servers) };
  if (!found.hasDevice && found.ipsets.length === 0) return;
  options.onFound?.(found);
  if (options.adopt) await options.adopt(found.servers.map(({ server }) => server));
  else await drain(found, options, signal);
  if (signal.aborted) return;
  if (found.hasDevice) await deleteLink(KUBE_PROXY_DEVICE);
  await destroySets(found.ipsets, options.clock, signal);
}

/** Rules before IPVS have all new connections: those that IPVS has end some time. */
async function drain(
  { servers }: KubeProxyLeftovers,
  { ipvs, clock }: TakeOverOptions,
  signal: AbortSignal,
): Promise<void> {
  await ipvs.write(
    servers.flatMap(({ server, destinations }) =>
      destinations.map(({ address, port }): IpvsWrite => {
        return { do: 'set-destination', server, destination: { address, port, weight: 0 } };
      }),
    ),
  );
  let left: readonly VirtualServerKey[] = servers.map(({ server }) => server);
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    left = await deleteIdle(ipvs, left);
    if (left.length === 0) return;
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
  }
}

/** Gives those that have connections. */
async function deleteIdle(
  ipvs: Ipvs,
  servers: readonly VirtualServerKey[],
): Promise<readonly VirtualServerKey[]> {
  const isBusy = new Set<string>();
  for (const [id, destinations] of await ipvs.destinationsOf(servers)) {
    const isIdle = destinations.every((each) => {
      return each.activeConnections + each.inactiveConnections === 0;
    });
    if (!isIdle) isBusy.add(id);
  }

  const idle = servers.filter((server) => !isBusy.has(virtualServerId(server)));
  // One that is rejected is gone already.
  await ipvs.write(idle.map((server) => ({ do: 'delete-server', server }) as const));
  return servers.filter((server) => isBusy.has(virtualServerId(server)));
}

/** The kernel lets go of a set some time after the rule that used it. */
async function destroySets(
  names: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let left = names;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const busy: string[] = [];
    for (const name of left) if ((await destroyIpset(name)) === 'busy') busy.push(name);
    if (busy.length === 0) return;
    left = busy;
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
  }
}
