import { readFile } from 'node:fs/promises';

/** The kernel counts in these to everybody, whatever it uses itself. */
const TICKS_PER_SECOND = 100;
const KIB = 1024;
/** From the third field on: after the name, which may hold spaces. */
const USER_TICKS = 11;
const TIMES = 4;

/** Of the process and of those it has started and waited for: a proxy that starts `nft` pays for it. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(USER_TICKS, USER_TICKS + TIMES).map(Number);
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

export interface Memory {
  readonly residentBytes: number;
  /** The most it ever was. */
  readonly peakBytes: number;
  /** What only this process has, and its share of the rest. */
  readonly proportionalBytes: number;
}

export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return {
    residentBytes: kibOf(status, 'VmRSS') * KIB,
    peakBytes: kibOf(status, 'VmHWM') * KIB,
    proportionalBytes: kibOf(rollup, 'Pss') * KIB,
  };
}

function kibOf(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.replace(/\D+/g, ' ').trim() ?? Number.NaN);
}
