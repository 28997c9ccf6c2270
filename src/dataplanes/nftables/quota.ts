import { MOST_CLIENTS_OF_A_LIST } from './sets.ts';

/**
 * The affinity quota of one list: a token bucket of half the quota, which refills within the
 * timeout. So within any timeout at most the quota is added, and because older entries have
 * expired, no more than the quota is ever stored.
 */
const BURST = MOST_CLIENTS_OF_A_LIST / 2;
const SECONDS_PER_DAY = 86_400;

export function clientLimit(seconds: number): { readonly perDay: number; readonly burst: number } {
  return { perDay: Math.floor((BURST * SECONDS_PER_DAY) / seconds), burst: BURST };
}
