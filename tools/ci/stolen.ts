import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
/** Fields before steal in a line of /proc/stat: its name, user, nice, system, idle and three more. */
const STEAL_FIELD = 8;

/** Seconds that the host has taken from this machine since its start: the mean of its processors. */
export function stolenSeconds(stat: string = readFileSync('/proc/stat', 'utf8')): number {
  const processors = stat.split('\n').filter((line) => /^cpu\d/.test(line));
  const ticks = processors.map((line) => Number(line.split(/\s+/)[STEAL_FIELD] ?? 0));
  const sum = ticks.reduce((all, each) => all + (Number.isFinite(each) ? each : 0), 0);
  return processors.length === 0 ? 0 : sum / processors.length / TICKS_PER_SECOND;
}
