import { readFileSync } from 'node:fs';

/** How many values an entry of a map for each CPU has: one for every CPU that may ever be there. */
export function possibleCpus(): number {
  const text = readFileSync('/sys/devices/system/cpu/possible', 'utf8').trim();
  const last = /(\d+)$/.exec(text)?.[1];
  if (last === undefined) throw new Error(`cannot parse the list of possible CPUs: ${text}`);
  return Number(last) + 1;
}
