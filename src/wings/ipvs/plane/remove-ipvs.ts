import { constants } from 'node:os';
import { withIpvs } from '../../../linux/ipvs/ipvs-error.ts';
import {
  type Ipvs,
  type IpvsTimeouts,
  type IpvsWrite,
  type VirtualServerKey,
  virtualServerId,
} from '../../../linux/ipvs/ipvs-model.ts';
import { isMarked } from '../../../linux/ipvs/service-flags.ts';
import { NetlinkRejection } from '../../../linux/netlink/netlink-error.ts';
import type { CaptureTables } from './capture/capture-model.ts';
import type { IpvsPlaneOptions } from './ipvs-options.ts';

const { ENOENT, ESRCH } = constants.errno;

/** As the kernel sets them when IPVS is loaded. */
const KERNEL_TIMEOUTS: IpvsTimeouts = { tcpSeconds: 900, tcpFinSeconds: 120, udpSeconds: 300 };

type Parts = Pick<
  IpvsPlaneOptions,
  'ipvs' | 'capture' | 'timeouts' | 'forgetConnections' | 'servedByKubeProxy'
>;

/**
 * Connections end, but not those of virtual servers that kube-proxy has meanwhile: there is one for
 * an address, whichever process wrote it.
 */
export async function removeEverything(parts: Parts): Promise<void> {
  const { ipvs, capture } = parts;
  const servers = await ownServers(parts);
  if (servers.size === 0 && (await isAbsent(parts))) return;
  if ((await capture.state()) !== 'absent') await capture.retire();
  const others = (await parts.servedByKubeProxy?.()) ?? new Set();
  const ours = [...servers.values()].filter((server) => !others.has(virtualServerId(server)));
  await deleteServers(ipvs, ours);
  await parts.forgetConnections?.(ours);
  await restoreTimeouts(parts);
  await capture.remove();
}

/**
 * New connections go to the rules behind; those that IPVS has go on. Deletes what has drained, and
 * everything when the last has: `draining` otherwise.
 */
export async function retireEverything(parts: Parts): Promise<'draining' | 'removed'> {
  const { ipvs, capture } = parts;
  if ((await capture.state()) === 'active') await capture.retire();
  const servers = await ownServers(parts);
  if (servers.size === 0 && (await isAbsent(parts))) return 'removed';
  const left = await drain(ipvs, [...servers.values()]);
  if (left.size > 0) return 'draining';
  await restoreTimeouts(parts);
  await capture.remove();
  return 'removed';
}

/** Without tables there may be routing rules still: a flush of all tables leaves them. */
async function isAbsent({ capture }: Parts): Promise<boolean> {
  return (await capture.state()) === 'absent' && (await capture.inventory()).length === 0;
}

/** Gives the virtual servers that have connections left. */
async function drain(ipvs: Ipvs, servers: readonly VirtualServerKey[]): Promise<Set<string>> {
  const left = new Set<string>();
  const writes: IpvsWrite[] = [];
  const found =
    servers.length === 0
      ? undefined
      : await withIpvs(() => ipvs.destinationsOf(servers), undefined);
  for (const server of servers) {
    const destinations = found?.get(virtualServerId(server));
    if (destinations === undefined) continue;
    for (const { address, port, weight, ...counts } of destinations) {
      if (counts.activeConnections + counts.inactiveConnections > 0)
        left.add(virtualServerId(server));
      if (weight === 0) continue;
      writes.push({ do: 'set-destination', server, destination: { address, port, weight: 0 } });
    }
    if (!left.has(virtualServerId(server))) writes.push({ do: 'delete-server', server });
  }
  await writeAll(ipvs, writes);
  return left;
}

async function deleteServers(ipvs: Ipvs, servers: readonly VirtualServerKey[]): Promise<void> {
  const writes = servers.map((server): IpvsWrite => ({ do: 'delete-server', server }));
  if (writes.length > 0) await withIpvs(() => writeAll(ipvs, writes), undefined);
}

/** What is gone already is no failure. */
async function writeAll(ipvs: Ipvs, writes: readonly IpvsWrite[]): Promise<void> {
  const rejections = await ipvs.write(writes);
  const failed = rejections.find(({ errno }) => errno !== ENOENT && errno !== ESRCH);
  if (!failed) return;
  const what = `${failed.write.do} ${virtualServerId(failed.write.server)}`;
  throw new NetlinkRejection(what, { errno: failed.errno });
}

/** Those that another process has set are left alone. */
async function restoreTimeouts({ ipvs, timeouts }: Parts): Promise<void> {
  const found = await withIpvs(() => ipvs.timeouts(), undefined);
  if (found && isSet(found, timeouts())) await ipvs.setTimeouts(KERNEL_TIMEOUTS);
}

/** Sets those that differ; 0: as it is. */
export async function setTimeouts({ ipvs, timeouts }: Parts): Promise<void> {
  const wanted = timeouts();
  if (!isSet(await ipvs.timeouts(), wanted)) await ipvs.setTimeouts(wanted);
}

function isSet(found: IpvsTimeouts, wanted: IpvsTimeouts): boolean {
  const names = ['tcpSeconds', 'tcpFinSeconds', 'udpSeconds'] as const;
  return names.every((name) => wanted[name] === 0 || wanted[name] === found[name]);
}

/**
 * Virtual servers of ours by id: those in our tables and those with our mark, which outlive a flush of
 * all tables. Does not load IPVS: where it is not loaded there are none.
 */
export async function ownServers(parts: {
  readonly ipvs: Ipvs;
  readonly capture: Pick<CaptureTables, 'read'>;
}): Promise<ReadonlyMap<string, VirtualServerKey>> {
  const own = new Map((await parts.capture.read()).servers);
  for (const [id, server] of await markedServers(parts.ipvs)) own.set(id, server);
  return own;
}

async function markedServers(
  ipvs: Ipvs,
): Promise<readonly (readonly [string, VirtualServerKey])[]> {
  // Reads a file that is there while IPVS is loaded. A question by netlink would load it.
  const isLoaded = await withIpvs(async () => Boolean(await ipvs.fingerprint('begin')), false);
  if (!isLoaded) return [];
  const all = [...(await ipvs.read())];
  return all.flatMap(([id, { server }]) => (isMarked(server) ? [[id, server] as const] : []));
}
