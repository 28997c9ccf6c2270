import { readdir, readFile } from 'node:fs/promises';
import type { Memory } from '../record.ts';

/** The kernel reports in these units to user space, whatever it uses itself. */
const TICKS_PER_SECOND = 100;
const KIB = 1024;
/** Fields of /proc/PID/stat after the name, which may hold spaces. */
const PARENT = 1;
const USER_TICKS = 11;
const TIMES = 4;

/**
 * CPU time of the process, of its children that it has waited for, and of its children that still
 * run: a proxy that lets `nft` or `iptables-restore` work pays for them.
 */
export async function cpuSecondsOf(pid: number): Promise<number> {
  let ticks = 0;
  for (const fields of (await familyOf(pid)).values()) {
    for (const each of fields.slice(USER_TICKS, USER_TICKS + TIMES)) ticks += Number(each);
  }
  return ticks / TICKS_PER_SECOND;
}

export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  let programsKib = 0;
  for (const each of (await familyOf(pid)).keys()) {
    if (each === pid) continue;
    const text = await readUnlessGone(`/proc/${each}/status`);
    if (text !== undefined) programsKib += kibOf(text, 'VmRSS') || 0;
  }
  return {
    residentBytes: kibOf(status, 'VmRSS') * KIB,
    peakBytes: kibOf(status, 'VmHWM') * KIB,
    proportionalBytes: kibOf(rollup, 'Pss') * KIB,
    anonymousBytes: kibOf(status, 'RssAnon') * KIB,
    programsBytes: programsKib * KIB,
  };
}

function kibOf(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.replace(/\D+/g, ' ').trim() ?? Number.NaN);
}

/** The process and all that descend from it, with the fields of their stat. */
async function familyOf(pid: number): Promise<Map<number, string[]>> {
  const everybody = new Map<number, string[]>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readUnlessGone(`/proc/${name}/stat`);
    if (text === undefined) continue;
    everybody.set(Number(name), text.slice(text.lastIndexOf(')') + 2).split(' '));
  }
  const family = new Map<number, string[]>();
  const waiting = [pid];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const fields = everybody.get(one);
    if (fields) family.set(one, fields);
    for (const [child, { [PARENT]: parent }] of everybody) {
      if (Number(parent) === one) waiting.push(child);
    }
  }
  return family;
}

/** A process may exit while /proc is read. */
async function readUnlessGone(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  });
}
