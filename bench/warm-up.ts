import type { Contestant } from './contestants.ts';
import type { Measure } from './measures.ts';
import type { Step } from './plan.ts';
import { type VisitOptions, visit } from './visit.ts';

interface WarmingStep extends Pick<Step, 'measures'> {
  readonly contestant: Contestant;
}

/** What each of these begins with is a start. */
const WARMING = ['rolling', 'bulk'] as const satisfies readonly Measure[];

/**
 * The first to be measured would pay for an API server that has not served yet: without this, 1,000
 * Services at once took the first proxy of each cluster 3 s, and the same proxy 1.5 s in its second
 * round. So the first proxy that is run does it once before, and its figures are not kept.
 */
export async function warmUp(
  { contestant, measures }: WarmingStep,
  of: Pick<VisitOptions, 'site' | 'program' | 'detail' | 'signal'>,
): Promise<void> {
  await visit({
    ...of,
    contestant,
    round: 0,
    measures: new Set(WARMING.filter((measure) => measures.has(measure))),
    afterStart: async () => undefined,
  });
}

/** Undefined: only packets are measured, and the API server has no part in that. */
export function warmingStep(steps: readonly Step[]): WarmingStep | undefined {
  for (const { contestant, notRun, measures } of steps) {
    if (contestant === undefined || notRun !== undefined) continue;
    if (isOfControl(measures)) return { contestant, measures };
  }
  return undefined;
}

function isOfControl(measures: Step['measures']): boolean {
  return [...measures].some((measure) => measure !== 'data' && measure !== 'limit');
}
