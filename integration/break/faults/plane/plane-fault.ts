import type { PlaneScene } from './plane-scene.ts';

/** What is known when it is over. It throws when something is not as it must be. */
export interface PlaneOutcome {
  /** How long it took until all was right again, in words; empty where nothing was ever wrong. */
  readonly rightAfter: string;
  /** What was lost: nothing, and what was looked at to say so. */
  readonly lost: string;
  /** Why nothing was done: neither right nor wrong. */
  readonly skipped?: string;
}

/** Something that happens to a node that serves. */
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
    // One row that fails says nothing about the others.
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
