import { MOST_CLIENTS_OF_A_LIST } from './sets.ts';

/**
 * How many new clients of one list may be remembered: a bucket of half the quota, which fills again
 * within the time-out. So within any time-out at most the quota is added, and as what is older has
 * been forgotten, no more than the quota is ever remembered.
 */
const BURST = MOST_CLIENTS_OF_A_LIST / 2;
const SECONDS_PER_DAY = 86_400;

export function clientLimit(seconds: number): { readonly perDay: number; readonly burst: number } {
  return { perDay: Math.floor((BURST * SECONDS_PER_DAY) / seconds), burst: BURST };
}
