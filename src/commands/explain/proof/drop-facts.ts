import { statSync } from 'node:fs';
import type { DropFacts, DroppedPacket } from '../../../explain/dropped-packet.ts';
import { type ConntrackLosses, conntrackLosses } from '../../../linux/conntrack/table-use.ts';
import type { Sysctls } from '../../../linux/sysctl.ts';
import { SysctlError } from '../../../linux/sysctl-error.ts';

const OWN_NAMESPACE = '/proc/thread-self/ns/net';
const IPV6_SEPARATOR = ':';

/** The inode number of the network namespace that this thread is in. */
export function ownNamespaceNumber(): number {
  return statSync(OWN_NAMESPACE).ino;
}

/**
 * The settings that a drop may be due to; none where it happened in another network namespace, whose
 * settings this process does not see.
 */
export function readDropFacts(
  { networkNamespace, packet, device }: DroppedPacket,
  machine: { readonly sysctls: Sysctls; readonly lossesBefore: ConntrackLosses | undefined },
): DropFacts {
  if (networkNamespace !== ownNamespaceNumber()) return {};
  const number = (name: string): number | undefined => numberAt(machine.sysctls, name);
  const isIpv6 = packet.source.includes(IPV6_SEPARATOR);
  const forwarding = number(isIpv6 ? 'net/ipv6/conf/all/forwarding' : 'net/ipv4/ip_forward');
  const filters = ['all', device].map((name) => number(`net/ipv4/conf/${name}/rp_filter`) ?? 0);
  const count = number('net/netfilter/nf_conntrack_count');
  const max = number('net/netfilter/nf_conntrack_max');
  const [before, now] = [machine.lossesBefore, conntrackLosses()];
  return {
    ...(forwarding === undefined ? {} : { isForwarding: forwarding !== 0 }),
    ...(isIpv6 ? {} : { rpFilter: Math.max(...filters) }),
    ...(count === undefined || max === undefined || before === undefined || now === undefined
      ? {}
      : { conntrack: { count, max, dropped: now.drop - before.drop } }),
  };
}

/** Undefined: this kernel has no such setting, or the interface has gone. */
function numberAt(sysctls: Sysctls, name: string): number | undefined {
  try {
    return Number(sysctls.read(name));
  } catch (error) {
    if (error instanceof SysctlError) return undefined;
    throw error;
  }
}
