import { contains, parseCidrs } from '../../../../addresses/cidr.ts';
import { parseIp } from '../../../../addresses/ip.ts';
import { ipsetPorts, listIpsets } from '../../../../linux/ipvs/ipset/ipset.ts';
import { withIpvs } from '../../../../linux/ipvs/ipvs-error.ts';
import type {
  Ipvs,
  VirtualServerKey,
  VirtualServerState,
} from '../../../../linux/ipvs/ipvs-model.ts';
import { listAddresses } from '../../../../linux/ipvs/list-addresses.ts';
import { findLink } from '../../../../linux/route/change-links.ts';
import {
  KUBE_PROXY_DEVICE,
  KUBE_PROXY_NODE_PORT_SETS,
  KUBE_PROXY_SETS,
} from './kube-proxy-names.ts';

const NOTHING: ReadonlyMap<string, VirtualServerState> = new Map();

/** What kube-proxy has left of its ipvs mode, but for chains of iptables. */
export interface KubeProxyLeftovers {
  readonly hasDevice: boolean;
  readonly ipsets: readonly string[];
  /** Also those whose address this mode serves too. */
  readonly servers: readonly VirtualServerState[];
}

/**
 * A virtual server is kube-proxy's if its address is on kube-proxy's device, or if it is an address
 * of this machine with a port that is in kube-proxy's sets of node ports.
 */
export async function findLeftovers(ipvs: Pick<Ipvs, 'read'>): Promise<KubeProxyLeftovers> {
  const hasDevice = (await findLink(KUBE_PROXY_DEVICE)) !== undefined;
  const ipsets = (await listIpsets()).filter((name) => KUBE_PROXY_SETS.has(name));
  if (!hasDevice && ipsets.length === 0) return { hasDevice, ipsets, servers: [] };
  const [onDevice, own] = [new Set<string>(), new Set<string>()];
  for (const { address, interface: link } of await listAddresses()) {
    (link === KUBE_PROXY_DEVICE ? onDevice : own).add(address);
  }
  const nodePorts = await readNodePorts(ipsets);
  const isTheirs = ({ protocol, address, port }: VirtualServerKey): boolean =>
    onDevice.has(address) || (own.has(address) && nodePorts.has(`${protocol} ${port}`));
  const all = await withIpvs(() => ipvs.read(), NOTHING);
  const servers = [...all.values()].filter(({ server }) => isTheirs(server));
  return { hasDevice, ipsets, servers };
}

/** Those whose address is in none of the CIDRs. */
export function outsideOf(
  cidrs: readonly string[],
  servers: readonly VirtualServerState[],
): readonly VirtualServerState[] {
  const ranges = parseCidrs(cidrs);
  if (ranges.length === 0) return servers;
  return servers.filter(({ server }) => {
    const ip = parseIp(server.address);
    return ip === undefined || !ranges.some((range) => contains(range, ip));
  });
}

async function readNodePorts(ipsets: readonly string[]): Promise<ReadonlySet<string>> {
  const there = new Set(ipsets);
  const found = new Set<string>();
  for (const { name, protocol } of KUBE_PROXY_NODE_PORT_SETS) {
    if (!there.has(name)) continue;
    for (const port of await ipsetPorts(name)) found.add(`${protocol} ${port}`);
  }
  return found;
}
