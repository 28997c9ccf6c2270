import type { Part, Plan } from './part.ts';
import type { PartResult } from './results.ts';
import { UsageError } from './usage-error.ts';

export interface Wishes {
  /** Names; none asks for all parts of the plan. */
  readonly only: readonly string[];
  /** Results of an earlier run that need not be had again, unless they are failures. */
  readonly earlier: readonly PartResult[];
}

export function partsOf(plan: Plan, all: readonly Part[]): Part[] {
  return all.filter(({ plans }) => plans.includes(plan));
}

/** Which parts of a plan are to be run now. */
export function partsToRun(parts: readonly Part[], { only, earlier }: Wishes): Part[] {
  const runnable = parts.filter(({ command }) => command !== undefined);
  const unknown = only.filter((name) => !runnable.some((part) => part.name === name));
  if (unknown.length > 0) {
    const names = runnable.map(({ name }) => name).join(', ');
    throw new UsageError(`no part is named ${unknown.join(', ')}; choose from: ${names}`);
  }
  const hasPassed = new Set(
    earlier.filter(({ failure }) => failure === undefined).map(({ name }) => name),
  );
  return runnable.filter(
    ({ name }) => (only.length === 0 || only.includes(name)) && !hasPassed.has(name),
  );
}
