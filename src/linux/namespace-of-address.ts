import { statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { canonicalIp } from '../addresses/ip.ts';
import { insideNetworkNamespace, NamespaceError } from './inside-namespace.ts';
import { openNetlink } from './netlink/netlink-socket.ts';
import { networkNamespaces } from './network-namespaces.ts';
import { isLinkedNamespace } from './route/namespace-id.ts';
import { NETLINK_ROUTE } from './route/route-protocol.ts';
import { listLinks } from './route/watch-links.ts';

const OWN = '/proc/thread-self/ns/net';

/**
 * The path of a network namespace that has the address and is linked with ours; undefined: none that
 * can be seen and entered. Machines may have others with the same address, such as those of
 * clusters that run in containers.
 */
export async function namespaceOfAddress(address: string): Promise<string | undefined> {
  await listLinks();
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  for (const path of networkNamespaces()) {
    if (hasAddress(path, address) && (await isLinkedNamespace(netlink, path))) return path;
  }
  return undefined;
}

function hasAddress(path: string, address: string): boolean {
  try {
    return !isOwnNamespace(path) && insideNetworkNamespace(path, addressesHere).has(address);
  } catch (error) {
    // Processes end, and namespaces of others cannot be entered.
    if (error instanceof NamespaceError || isSystemError(error)) return false;
    throw error;
  }
}

/** Whether a path names the network namespace of this thread. */
export function isOwnNamespace(path: string): boolean {
  return statSync(path).ino === statSync(OWN).ino;
}

function addressesHere(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flat();
  return new Set(all.flatMap((each) => canonicalIp(each?.address ?? '') ?? []));
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
