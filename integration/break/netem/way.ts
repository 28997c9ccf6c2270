import { setTimeout as delay } from 'node:timers/promises';
import type { Origin } from '../../../lab/host/sockets.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';

/** Retransmissions of a lost SYN come after 1, 3, 7 and 15 seconds. */
const ATTEMPT_DEADLINE_MS = 20_000;
const BETWEEN_ATTEMPTS_MS = 20;
const WORKERS = 4;
const MOST_FAULTS = 5;

export interface Way {
  readonly name: string;
  readonly origin: Origin;
  /** Where the next connection goes. */
  next(): { readonly address: string; readonly port: number };
}

export interface WayCount {
  readonly name: string;
  readonly answered: number;
  readonly failed: number;
  readonly slowestMs: number;
  /** The first ones, in words. */
  readonly faults: readonly string[];
}

/** One connection after the other by each worker until the signal; each gets its time to end. */
export async function useWay(way: Way, until: AbortSignal): Promise<WayCount> {
  const count = { answered: 0, failed: 0, slowestMs: 0, faults: [] as string[] };
  const work = async (): Promise<void> => {
    while (!until.aborted) {
      const startedAt = performance.now();
      const to = way.next();
      try {
        await httpGet(way.origin, { ...to, path: '/hostname', deadlineMs: ATTEMPT_DEADLINE_MS });
        count.answered++;
        count.slowestMs = Math.max(count.slowestMs, performance.now() - startedAt);
      } catch (error) {
        count.failed++;
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
        if (count.faults.length < MOST_FAULTS) {
          count.faults.push(`${to.address} after ${seconds} s: ${String(error)}`);
        }
      }
      await delay(BETWEEN_ATTEMPTS_MS);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return { name: way.name, ...count };
}
