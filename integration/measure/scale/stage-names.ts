import type { Spread } from './statistics.ts';

/** The borders that a change crosses, in the order in which it does. */
export const STAGES = ['line', 'rows', 'encode', 'kernel', 'acknowledge'] as const;
export type Stage = (typeof STAGES)[number];

export interface StagesMeasured {
  readonly services: number;
  readonly whole: Spread;
  readonly medianMs: Readonly<Record<Stage, number>>;
}
