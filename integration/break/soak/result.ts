import type { Sample } from './sample.ts';

/** All that a soak has measured, as it is written into docs/soak. */
export interface SoakResult {
  readonly mode: string;
  readonly minutes: number;
  readonly isLeakPlanted: boolean;
  readonly writes: {
    /** That the API server has accepted. */
    readonly churn: number;
    readonly rolling: number;
    readonly flapping: number;
    /** Of all, those that it has not answered in time. Absent in results of before: none. */
    readonly missed?: number;
  };
  readonly connections: {
    readonly made: number;
    readonly failed: number;
    readonly example: string;
  };
  /** Why the agent ended, if it did. */
  readonly ended?: string;
  /** Between the kernel and the API server, after the last change. */
  readonly differences: number;
  readonly samples: readonly Sample[];
  /** How often the agent did not answer when it was sampled. Absent in results of before: never. */
  readonly unansweredSamples?: number;
}
