import { quantile } from '../../../lab/host/spread.ts';

export interface Spread {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export function spreadOf(valuesMs: readonly number[]): Spread {
  return {
    count: valuesMs.length,
    p50Ms: quantile(valuesMs, 0.5),
    p99Ms: quantile(valuesMs, 0.99),
    maxMs: quantile(valuesMs, 1),
  };
}
