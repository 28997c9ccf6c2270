import type { Progress } from '../../lab/host/progress.ts';
import type { Lab } from '../../lab/lab.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import type { Barrier } from '../runner/barrier.ts';
import type { Bench } from '../runner/run-scenario.ts';
import type { Scenario } from '../scenario.ts';
import type { Sabotage } from './sabotage.ts';

/** A sabotaged proxy never gets there: no need to wait as long as for a slow one. */
export const BARRIER_DEADLINE_MS = 10_000;

export interface SabotageResult {
  readonly proxy: string;
  readonly sabotage: string;
  readonly title: string;
  /** What was to notice it. */
  readonly scenario: string;
  readonly caught: boolean;
  /** Why the scenario failed, or why the sabotage proves nothing. */
  readonly reason: string;
  readonly milliseconds: number;
}

export interface SabotageRun {
  readonly variant: ProxyVariant;
  readonly sabotages: readonly Sabotage[];
  readonly corpus: readonly Scenario[];
  readonly atOnce: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly onResult: (result: SabotageResult) => void;
}

/** Where sabotages are played: a lab, and what runs of scenarios in it share. */
export interface Stage {
  readonly lab: Lab;
  readonly plan: SabotageRun;
  readonly barrier: Barrier;
  readonly bench: Bench;
  /** Another one for each run of scenarios. */
  nextSerial(): number;
}

export interface Verdict {
  readonly caught: boolean;
  readonly reason: string;
}
