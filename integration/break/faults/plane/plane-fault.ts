import type { PlaneScene } from './plane-scene.ts';

/** The result of a fault. A fault throws when a check fails. */
export interface PlaneOutcome {
  /** Time to recovery, in words; empty if the state was never wrong. */
  readonly rightAfter: string;
  /** What was lost, and what was checked. */
  readonly lost: string;
  /** Why it was skipped. */
  readonly skipped?: string;
}

/** A fault on a node that serves. */
export interface PlaneFault {
  readonly name: string;
  /** What was done, for the reader of the table. */
  readonly done: string;
  readonly happen: (scene: PlaneScene) => Promise<PlaneOutcome>;
}

export interface PlaneResult {
  readonly fault: PlaneFault;
  readonly outcome?: PlaneOutcome;
  readonly failure?: string;
}

export async function runPlaneFault(scene: PlaneScene, fault: PlaneFault): Promise<PlaneResult> {
  try {
    return { fault, outcome: await fault.happen(scene) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Continue after a failure: the other rows are independent.
    return { fault, failure: error.message };
  }
}

/** Fails the row, with what was found instead. */
export function must(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}

export function inMs(ms: number): string {
  return `${ms.toFixed(0)} ms`;
}
