const MILLISECOND = 0.001;

/** kube-proxy's buckets for its sync durations: 1 ms, doubled up to 16.384 s. */
export const SYNC_SECONDS: readonly number[] = Array.from(
  { length: 15 },
  (_, power) => MILLISECOND * 2 ** power,
);

/** kube-proxy's buckets for network programming latency. */
export const NETWORK_PROGRAMMING_SECONDS: readonly number[] = [
  0,
  0.25,
  0.5,
  ...steps({ from: 1, to: 59, by: 1 }),
  ...steps({ from: 60, to: 115, by: 5 }),
  ...steps({ from: 120, to: 300, by: 30 }),
];

/** From 0.1 ms to 10 s, with more buckets in the usual range. */
export const PROPAGATION_SECONDS: readonly number[] = [
  0.0001, 0.0002, 0.0003, 0.0005, 0.0007, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015,
  0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10,
];

function steps({ from, to, by }: { from: number; to: number; by: number }): number[] {
  return Array.from({ length: (to - from) / by + 1 }, (_, index) => from + index * by);
}
