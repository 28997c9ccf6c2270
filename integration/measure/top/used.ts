import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** USER_HZ, which is 100 on every architecture that we run on. */
const TICKS_PER_SECOND = 100;
const MB = 1_000_000;

/** What a process used for some time. */
export interface Used {
  /** Of one CPU. */
  readonly cpu: number;
  readonly mostMb: number;
}

export async function used(pid: number, seconds: number): Promise<Used> {
  const [startedAtMs, before] = [performance.now(), cpuSeconds(pid)];
  let mostMb = 0;
  while (performance.now() - startedAtMs < seconds * 1000) {
    mostMb = Math.max(mostMb, residentBytes(pid) / MB);
    await delay(100);
  }
  const elapsed = (performance.now() - startedAtMs) / 1000;
  return { cpu: (cpuSeconds(pid) - before) / elapsed, mostMb };
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
