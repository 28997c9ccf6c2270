/**
 * Steps that affinity timeouts are rounded up to. A timeout is part of a rule: a chain for every
 * number of seconds that a Service may request would be 86,400 of them. Each step applies up to its
 * limit; common values (10 s, 5 min, 3 h) are exact, and no timeout is lengthened by more than a
 * sixth.
 */
const STEPS = [
  { limitSeconds: 60, stepSeconds: 1 },
  { limitSeconds: 600, stepSeconds: 10 },
  { limitSeconds: 3600, stepSeconds: 60 },
  { limitSeconds: 10_800, stepSeconds: 300 },
  { limitSeconds: 86_400, stepSeconds: 900 },
] as const;

/** 0 stays 0: no affinity. */
export function timeOutStep(seconds: number): number {
  const step = STEPS.find(({ limitSeconds }) => seconds <= limitSeconds);
  // The API allows no more than a day.
  if (step === undefined) return 86_400;
  return Math.ceil(seconds / step.stepSeconds) * step.stepSeconds;
}
