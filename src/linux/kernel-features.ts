import { readFileSync } from 'node:fs';
import { hasConntrack } from './conntrack/has-conntrack.ts';
import { genericFamily, NETLINK_GENERIC } from './netlink/generic-family.ts';
import { NetlinkError } from './netlink/netlink-error.ts';
import { openNetlink } from './netlink/netlink-socket.ts';
import { NftConnection } from './nftables/nft-connection.ts';
import { NETLINK_NETFILTER } from './nftables/nftables-protocol.ts';

/** What a mode may need of the kernel. */
export type KernelFeature = 'nf_tables' | 'nf_conntrack' | 'ip_vs' | 'bpf' | 'cgroup2';

/** For people. */
export const FEATURE_TEXT: Readonly<Record<KernelFeature, string>> = {
  nf_tables: 'nf_tables (CONFIG_NF_TABLES)',
  nf_conntrack: 'connection tracking (CONFIG_NF_CONNTRACK)',
  ip_vs: 'IPVS (CONFIG_IP_VS)',
  bpf: 'eBPF (CONFIG_BPF_SYSCALL)',
  cgroup2: 'cgroup version 2 (CONFIG_CGROUPS)',
};

/** The features that this kernel lacks. To be asked makes it load a module that it has. */
export async function missingFeatures(): Promise<ReadonlySet<KernelFeature>> {
  const fileSystems = readFileSync('/proc/filesystems', 'utf8').split(/\s+/);
  const missing = new Set<KernelFeature>();
  if (!(await hasNfTables())) missing.add('nf_tables');
  if (!(await hasConntrack())) missing.add('nf_conntrack');
  if (!(await hasIpvs())) missing.add('ip_vs');
  if (!fileSystems.includes('bpf')) missing.add('bpf');
  if (!fileSystems.includes('cgroup2')) missing.add('cgroup2');
  return missing;
}

/** A process that may not ask is rejected by the same code. */
async function hasNfTables(): Promise<boolean> {
  try {
    using connection = new NftConnection(openNetlink({ protocol: NETLINK_NETFILTER }));
    await connection.generation();
    return true;
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    return error.code === 'EPERM';
  }
}

/** A process that may not ask is told yes. */
async function hasIpvs(): Promise<boolean> {
  try {
    using netlink = openNetlink({ protocol: NETLINK_GENERIC });
    return (await genericFamily(netlink, 'IPVS')) !== undefined;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === 'EPERM') return true;
    throw error;
  }
}
