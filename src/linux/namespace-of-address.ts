import { statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { canonicalIp } from '../addresses/ip.ts';
import { BpfError } from './bpf/errors.ts';
import { insideNetworkNamespace } from './bpf/network-namespace.ts';
import { networkNamespaces } from './network-namespaces.ts';

/**
 * The path of another network namespace of this machine that has the address; undefined: none that
 * can be seen and entered has it.
 */
export function namespaceOfAddress(address: string): string | undefined {
  const own = statSync('/proc/thread-self/ns/net').ino;
  return networkNamespaces().find((path) => {
    try {
      return statSync(path).ino !== own && insideNetworkNamespace(path, addressesHere).has(address);
    } catch (error) {
      // Processes end, and namespaces of others cannot be entered.
      if (error instanceof BpfError || isSystemError(error)) return false;
      throw error;
    }
  });
}

/** Whether a path names the network namespace of this thread. */
export function isOwnNamespace(path: string): boolean {
  return statSync(path).ino === statSync('/proc/thread-self/ns/net').ino;
}

function addressesHere(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flat();
  return new Set(all.flatMap((each) => canonicalIp(each?.address ?? '') ?? []));
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
