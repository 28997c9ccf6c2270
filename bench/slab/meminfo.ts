export const EVERY_MS = 20;

/** Cells that the thread and its owner share, in KiB. */
export const NOW = 0;
export const LOWEST = 1;
export const RISE = 2;
export const SAMPLES = 3;
/** The highest sample since the last reset. */
export const HIGHEST = 4;
export const CELLS = 5;

/**
 * Takes one sample. The rise is counted from the lowest sample before it: the kernel gives back what
 * an earlier proxy held after that has ended, which would hide what the next one takes.
 */
export function sample(cells: Int32Array, kib: number): void {
  Atomics.store(cells, NOW, kib);
  const lowest = Math.min(Atomics.load(cells, LOWEST), kib);
  Atomics.store(cells, LOWEST, lowest);
  if (kib - lowest > Atomics.load(cells, RISE)) Atomics.store(cells, RISE, kib - lowest);
  if (kib > Atomics.load(cells, HIGHEST)) Atomics.store(cells, HIGHEST, kib);
  Atomics.add(cells, SAMPLES, 1);
}

/** What follows is counted from here. */
export function restart(cells: Int32Array): void {
  Atomics.store(cells, LOWEST, Atomics.load(cells, NOW));
  Atomics.store(cells, RISE, 0);
}

/** `SUnreclaim` of /proc/meminfo: what the kernel holds in objects that no pressure takes from it. */
export function unreclaimableKib(meminfo: string): number {
  const value = /^SUnreclaim:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  if (value === undefined) throw new Error('/proc/meminfo has no SUnreclaim');
  return Number(value);
}
