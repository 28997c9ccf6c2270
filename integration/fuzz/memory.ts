const MEBIBYTE = 1024 ** 2;

/** How much may be kept more at the end than after the first round, when everything is warm. */
export const MOST_GROWTH_MB = 8;

/** What is in use after everything that is not has been thrown away: heap and buffers. */
export function usedMegabytes(): number {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('memory cannot be measured: start Node with --expose-gc');
  // What a first collection finalizes, a second one frees.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MEBIBYTE;
}
