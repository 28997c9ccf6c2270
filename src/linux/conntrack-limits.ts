import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { SysctlChange, Sysctls } from './sysctl.ts';
import { SysctlError, systemCode } from './sysctl-error.ts';
import {
  readSysctlState,
  type SysctlState,
  withChanges,
  writeSysctlState,
} from './sysctl-state.ts';

/** The desired limits of connection tracking. Undefined: keep the value of the kernel. */
export interface ConntrackLimits {
  readonly maxPerCore?: number;
  /** The minimum for all cores together; ignored without `maxPerCore`. */
  readonly min: number;
  readonly tcpEstablishedTimeoutMs?: number;
  readonly tcpCloseWaitTimeoutMs?: number;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeoutMs?: number;
  readonly udpStreamTimeoutMs?: number;
}

export interface LimitsResult {
  readonly changes: readonly SysctlChange[];
  /** Settings that could not be changed or saved; all others were. */
  readonly problems: readonly SysctlError[];
}

const MAX = 'net/netfilter/nf_conntrack_max';
/** The same number as /sys/module/nf_conntrack/parameters/hashsize, which upstream writes. */
const BUCKETS = 'net/netfilter/nf_conntrack_buckets';
const ESTABLISHED = 'net/netfilter/nf_conntrack_tcp_timeout_established';
const CLOSE_WAIT = 'net/netfilter/nf_conntrack_tcp_timeout_close_wait';
const LIBERAL = 'net/netfilter/nf_conntrack_tcp_be_liberal';
const UDP = 'net/netfilter/nf_conntrack_udp_timeout';
const UDP_STREAM = 'net/netfilter/nf_conntrack_udp_timeout_stream';

const MOST_SCALED = 1024 * 1024;
const CONNECTIONS_PER_BUCKET = 4;

/** Every setting with its desired value; `atLeast` ones are never lowered. */
export interface WantedSetting {
  readonly name: string;
  readonly value: number;
  readonly atLeast?: boolean;
}

/** In the order in which upstream sets them. */
export function wantedSettings(limits: ConntrackLimits, cpuCount: number): WantedSetting[] {
  const max = conntrackMax(limits, cpuCount);
  const buckets = max && Math.floor(max / CONNECTIONS_PER_BUCKET);
  return [
    { name: MAX, value: max },
    { name: BUCKETS, value: buckets, atLeast: true },
    { name: ESTABLISHED, value: seconds(limits.tcpEstablishedTimeoutMs) },
    { name: CLOSE_WAIT, value: seconds(limits.tcpCloseWaitTimeoutMs) },
    { name: LIBERAL, value: limits.tcpBeLiberal ? 1 : undefined },
    { name: UDP, value: seconds(limits.udpTimeoutMs) },
    { name: UDP_STREAM, value: seconds(limits.udpStreamTimeoutMs) },
  ].filter((setting): setting is WantedSetting => setting.value !== undefined);
}

/** The changes needed, given the current values. A value that cannot be read is left out. */
export function planLimits(
  wanted: readonly WantedSetting[],
  current: ReadonlyMap<string, string>,
): SysctlChange[] {
  const changes: SysctlChange[] = [];
  for (const { name, value, atLeast } of wanted) {
    const before = current.get(name);
    if (before === undefined || before === String(value)) continue;
    if (atLeast && Number(before) >= value) continue;
    changes.push({ name, before, after: String(value) });
  }
  return changes;
}

/**
 * Sets what differs, and saves the previous values. kube-proxy exits when one of these writes
 * fails; here it is reported and the rest continues: a node with shorter timeouts still serves. In
 * a network namespace other than that of the machine, kernel-wide limits cannot be set, which is
 * reported as such a problem.
 */
export async function setConntrackLimits(
  limits: ConntrackLimits & { readonly cpuCount: number },
  sysctls: Sysctls,
  statePath: string,
): Promise<LimitsResult> {
  const problems: SysctlError[] = [];
  const tell = (error: SysctlError): void => {
    problems.push(error);
  };
  const wanted = wantedSettings(limits, limits.cpuCount);
  const plan = planLimits(wanted, readAll(sysctls, wanted, tell));
  if (plan.length === 0) return { changes: [], problems };
  const earlier = (await orTell(readSysctlState(statePath), tell)) ?? new Map();
  // Before the first write, so that there is no moment at which an end would lose a value.
  const planned = await orTell(remember(statePath, withChanges(earlier, plan)), tell);
  const changes = writeAll(sysctls, plan, tell);
  // The kernel may round or reject values, so save what is there now. A file that cannot be written
  // is reported once.
  if (planned) await orTell(remember(statePath, withChanges(earlier, changes)), tell);
  return { changes, problems };
}

async function remember(path: string, state: SysctlState): Promise<true> {
  await writeSysctlState(path, state);
  return true;
}

/** Of the machine, which can have more than this process may use. */
export function onlineCpuCount(): number {
  let text: string;
  try {
    text = readFileSync('/sys/devices/system/cpu/online', 'utf8');
  } catch (error) {
    // A container without /sys: the count of Node is close enough.
    if (systemCode(error) === undefined) throw error;
    return cpus().length;
  }
  return countCpus(text) || cpus().length;
}

/** Counts a list in the kernel's format: `0-3,8`. */
export function countCpus(list: string): number {
  let count = 0;
  for (const [, first, last] of list.matchAll(/(\d+)(?:-(\d+))?/g)) {
    count += Number(last ?? first) - Number(first) + 1;
  }
  return count;
}

function conntrackMax({ maxPerCore, min }: ConntrackLimits, cpuCount: number): number | undefined {
  if (maxPerCore === undefined || maxPerCore <= 0) return undefined;
  const scaled = maxPerCore * cpuCount;
  // As upstream does it: a minimum above the cap counts only while the cap is not reached.
  return scaled > MOST_SCALED ? MOST_SCALED : Math.max(scaled, min);
}

/** Never 0, which would expire a connection as soon as it is created. */
function seconds(durationMs: number | undefined): number | undefined {
  return durationMs ? Math.max(1, Math.floor(durationMs / 1000)) : undefined;
}

function readAll(
  sysctls: Sysctls,
  wanted: readonly WantedSetting[],
  tell: (problem: SysctlError) => void,
): Map<string, string> {
  const current = new Map<string, string>();
  for (const { name } of wanted) {
    attempt(() => current.set(name, sysctls.read(name)), tell);
  }
  return current;
}

function writeAll(
  sysctls: Sysctls,
  plan: readonly SysctlChange[],
  tell: (problem: SysctlError) => void,
): SysctlChange[] {
  const changes = plan.map(({ name, after }) => attempt(() => sysctls.write(name, after), tell));
  return changes.filter((change) => change !== undefined);
}

function attempt<T>(work: () => T, tell: (problem: SysctlError) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SysctlError)) throw error;
    tell(error);
    return undefined;
  }
}

async function orTell<T>(
  work: Promise<T>,
  tell: (problem: SysctlError) => void,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof SysctlError)) throw error;
    tell(error);
    return undefined;
  }
}
