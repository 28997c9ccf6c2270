import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** USER_HZ, which is 100 on every architecture that we run on. */
const TICKS_PER_SECOND = 100;
const MB = 1_000_000;
const LOOK_EVERY_MS = 100;

/** What a process used for some time. */
export interface Used {
  /** Of one CPU. */
  readonly cpu: number;
  readonly mostMb: number;
}

export async function used(pid: number, seconds: number): Promise<Used> {
  return (await usedDuring(pid, delay(seconds * 1000))).used;
}

/** The same while something is done, and what that gave. */
export async function usedDuring<T>(
  pid: number,
  work: Promise<T>,
): Promise<{ readonly used: Used; readonly result: T }> {
  const [startedAtMs, before] = [performance.now(), cpuSeconds(pid)];
  const over = new AbortController();
  const looking = mostResidentMb(pid, over.signal);
  const result = await work.finally(() => over.abort());
  const elapsed = (performance.now() - startedAtMs) / 1000;
  const cpu = (cpuSeconds(pid) - before) / elapsed;
  return { used: { cpu, mostMb: await looking }, result };
}

async function mostResidentMb(pid: number, signal: AbortSignal): Promise<number> {
  let mostMb = 0;
  while (!signal.aborted) {
    mostMb = Math.max(mostMb, residentBytes(pid) / MB);
    await delay(LOOK_EVERY_MS);
  }
  return mostMb;
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
