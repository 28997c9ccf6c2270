import type { Progress } from '../../../lab/host/progress.ts';
import { microseconds, type Section } from './report.ts';
import { runWorker } from './shipped.ts';
import { STAGES, type StagesMeasured } from './stage-names.ts';

export interface StagesOptions {
  readonly few: number;
  readonly many: number;
  readonly endpointsPerService: number;
  /** Rounds of a hundred changes each. */
  readonly blocks: number;
  /** How many times what it takes with few Services. */
  readonly atMost: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Where the time of a change goes, in one process without an API server. */
export async function measureStages(options: StagesOptions): Promise<Section> {
  const { few, many, endpointsPerService, blocks, progress, signal } = options;
  const args = [few, many, endpointsPerService, blocks];
  const measured = await progress.step(`stages of a change, ${few} and ${many} Services`, () =>
    runWorker<[StagesMeasured, StagesMeasured]>('stages-node', args, signal),
  );
  const [small, large] = measured;
  return {
    name: 'stages',
    title: 'One changed endpoint: medians of its stages, from the line of the watch',
    head: ['services', 'changes', ...STAGES, 'whole p50', 'p99', 'longest'],
    rows: measured.map(({ services, whole, medianMs }) => [
      String(services),
      String(whole.count),
      ...STAGES.map((stage) => microseconds(medianMs[stage])),
      ...[whole.p50Ms, whole.p99Ms, whole.maxMs].map(microseconds),
    ]),
    limits: [
      {
        what: `p50 at ${many} Services, of that at ${few}`,
        figure: large.whole.p50Ms / small.whole.p50Ms,
        atMost: options.atMost,
        unit: 'times',
      },
    ],
    figures: measured,
  };
}
