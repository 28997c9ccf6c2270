import type { KernelFeature } from '../linux/kernel-features.ts';

/** What a mode needs of a sandboxed service, such as a unit of systemd. */
export interface ServiceNeeds {
  /** Without the prefix CAP_. */
  readonly capabilities: readonly string[];
  /** Features without which it cannot start at all. */
  readonly kernel: readonly KernelFeature[];
  /** System calls beyond those of an ordinary service (systemd's @system-service). */
  readonly systemCalls: readonly string[];
  /** Whether it enters the network namespaces of containers. */
  readonly entersNetworkNamespaces: boolean;
  /** A file that it shares with other programs: created before the start, and writable. */
  readonly sharedFile?: string;
  /** Whether a process that it starts must go on when the service ends, with its connections. */
  readonly leavesProcess?: true;
  /** Programs of another package, one of which it starts. */
  readonly programs?: readonly string[];
}

/** Rules of netfilter by netlink. */
export const NETLINK_NEEDS: ServiceNeeds = {
  capabilities: ['NET_ADMIN'],
  kernel: ['nf_tables', 'nf_conntrack'],
  systemCalls: [],
  entersNetworkNamespaces: false,
};
