import type { Budget, Plan } from './part.ts';

/** What all budgets of a plan may add up to, in seconds. */
export const TOTALS: Readonly<Record<Plan, Budget>> = {
  run: { cached: 25 * 60, cold: 60 * 60 },
  nightly: { cached: 9.25 * 3600, cold: 10.75 * 3600 },
};

/** When a plan is ended whatever it is doing, in seconds: also on a machine that is slow. */
export const DEADLINES: Readonly<Record<Plan, number>> = {
  run: 90 * 60,
  nightly: 11 * 3600,
};

/** A part is ended when it has taken this many times its budget: it hangs. */
export const HANG_FACTOR = 1.5;

/** Time for a stopped part to remove its labs before it is killed. */
export const GRACE_SECONDS = 45;
