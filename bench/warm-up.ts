import type { Measure } from './measures.ts';
import type { Step } from './plan.ts';
import { type VisitOptions, visit } from './visit.ts';

/** What each of these begins with is a start. */
const WARMING = ['rolling', 'bulk'] as const satisfies readonly Measure[];

/**
 * The first to be measured would pay for an API server that has not served yet: without this, 1,000
 * Services at once took the first proxy of each cluster 3 s, and the same proxy 1.5 s in its second
 * round. So the first proxy that is run does it once before, and its figures are not kept.
 */
export async function warmUp(
  steps: readonly Step[],
  of: Pick<VisitOptions, 'site' | 'program' | 'detail' | 'signal'>,
): Promise<void> {
  const first = steps.find(
    ({ contestant, notRun, measures }) =>
      contestant !== undefined && notRun === undefined && isOfControl(measures),
  );
  if (first?.contestant === undefined) return;
  await visit({
    ...of,
    contestant: first.contestant,
    round: 0,
    measures: new Set(WARMING.filter((measure) => first.measures.has(measure))),
    afterStart: async () => undefined,
  });
}

function isOfControl(measures: Step['measures']): boolean {
  return [...measures].some((measure) => measure !== 'data' && measure !== 'limit');
}
