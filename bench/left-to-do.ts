import { type PlanOptions, planSteps, type Step } from './plan.ts';
import type { Run } from './record.ts';
import { isSameSize } from './sizes.ts';

export const NO_PROXY = 'no proxy';

/** What of a plan is still to be measured, and how. */
export interface LeftToDo {
  readonly steps: readonly Step[];
  /**
   * Some proxy of the plan is attached to a control group, so all are asked from inside of one. It is
   * of the plan and not of the steps that are left: the rest is compared with what was measured before.
   */
  readonly hasSocketPlaces: boolean;
}

export function leftToDo(plan: PlanOptions, run: Run): LeftToDo {
  return {
    steps: planSteps(plan).filter((step) => !isMade(run, step)),
    hasSocketPlaces: plan.contestants.some(({ isEbpf }) => isEbpf),
  };
}

function isMade({ visits }: Run, step: Step): boolean {
  const proxy = step.contestant?.name ?? NO_PROXY;
  return visits.some(
    (visit) =>
      visit.proxy === proxy && visit.round === step.round && isSameSize(visit.size, step.size),
  );
}
