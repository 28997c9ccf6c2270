import { setTimeout as sleep } from 'node:timers/promises';
import type { Drop, DropWatch } from '../../../drops/drop.ts';

const DEADLINE_MS = 10_000;
const PAUSE_MS = 10;

/** Reads until there are as many drops; those that came after the deadline are missing. */
export async function readUntil(watch: DropWatch, count: number): Promise<readonly Drop[]> {
  const drops: Drop[] = [];
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (drops.length < count && performance.now() < deadlineMs) {
    drops.push(...watch.read());
    if (drops.length < count) await sleep(PAUSE_MS);
  }
  return drops;
}
