import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MEBIBYTE = 1024 ** 2;

/** How much may be kept more at the end than after the first round, when everything is warm. */
export const MOST_GROWTH_MB = 8;

/** What is in use after everything that is not has been thrown away: heap and buffers. */
export function usedMegabytes(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // What a first collection finalizes, a second one frees.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MEBIBYTE;
}
