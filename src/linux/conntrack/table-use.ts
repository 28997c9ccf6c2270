import { readFileSync } from 'node:fs';
import type { Sysctls } from '../sysctl.ts';
import { SysctlError, systemCode } from '../sysctl-error.ts';

/** Packets and entries that were lost since the network namespace exists. */
export interface ConntrackLosses {
  /** An entry could not be inserted, so its packet was dropped. */
  readonly insertFailed: number;
  /** Dropped because there was no room or no memory for an entry. */
  readonly drop: number;
  /** Entries removed early to make room. */
  readonly earlyDrop: number;
}

/** Sums over all CPUs. Undefined: the kernel has no such file (CONFIG_NF_CONNTRACK_PROCFS). */
export function conntrackLosses(
  path = '/proc/self/net/stat/nf_conntrack',
): ConntrackLosses | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const [head = [], ...cpus] = text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const sum = (name: string): number => {
    const at = head.indexOf(name);
    if (at === -1) return 0;
    return cpus.reduce((total, cpu) => total + Number.parseInt(cpu[at] ?? '0', 16), 0);
  };
  return { insertFailed: sum('insert_failed'), drop: sum('drop'), earlyDrop: sum('early_drop') };
}

/** Undefined: the kernel does not track connections here, or does not let this process see it. */
export function conntrackFill(
  sysctls: Pick<Sysctls, 'read'>,
): { readonly entries: number; readonly limit: number } | undefined {
  try {
    return {
      entries: Number(sysctls.read('net/netfilter/nf_conntrack_count')),
      limit: Number(sysctls.read('net/netfilter/nf_conntrack_max')),
    };
  } catch (error) {
    if (error instanceof SysctlError) return undefined;
    throw error;
  }
}
