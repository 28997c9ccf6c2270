import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { megabytes, milliseconds } from '../../../bench/report/units.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { quantile } from '../../../lab/host/spread.ts';
import type { LoadSize } from '../../../lab/load/objects.ts';
import type { Section } from './report.ts';
import { runWorker } from './shipped.ts';

interface Measured {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
}

interface NodeMeasured extends Measured {
  /** Of that, until the rows that follow from the objects were made. */
  readonly rowsMilliseconds: number;
  readonly messages: number;
  readonly bytes: number;
}

interface Round {
  readonly node: NodeMeasured;
  readonly bare: Measured;
}

export interface ColdOptions {
  readonly size: LoadSize;
  readonly rounds: number;
  /** Starts in the same process before the one that counts: in a small cluster the compiler's work would be all that is seen. */
  readonly warmUps?: number;
  readonly atMost: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** The start from nothing beside a bare loop that sends the same bytes, one after the other. */
export async function measureCold(options: ColdOptions): Promise<Section> {
  const { size, progress, signal } = options;
  await using folder = await mkdtempDisposable(join(tmpdir(), 'fairlead-scale-'));
  const file = join(folder.path, 'messages');
  const rounds: Round[] = [];
  await progress.step(`cold start, ${size.services} x ${size.endpointsPerService}`, async () => {
    for (let round = 0; round < options.rounds; round++) {
      const { services, endpointsPerService } = size;
      const args = [services, endpointsPerService, file, options.warmUps ?? 0];
      const node = await runWorker<NodeMeasured>('cold-node', args, signal);
      rounds.push({ node, bare: await runWorker<Measured>('cold-bare', [file], signal) });
    }
  });
  return sectionOf(rounds, options);
}

function sectionOf(rounds: readonly Round[], { size, atMost }: ColdOptions): Section {
  const title = `${size.services} x ${size.endpointsPerService}`;
  const ratios = rounds.map(({ node, bare }) => fromRowsMs(node) / bare.milliseconds);
  return {
    name: 'cold',
    title: 'Cold start: from a complete model to the last element acknowledged',
    head: [
      'cluster',
      'round',
      'messages',
      'bytes',
      'from rows',
      'bare',
      'ratio',
      'making rows',
      'ratio with it',
      'CPU with it',
      'bare CPU',
    ],
    rows: rounds.map(({ node, bare }, round) => [
      title,
      String(round + 1),
      String(node.messages),
      megabytes(node.bytes),
      milliseconds(fromRowsMs(node)),
      milliseconds(bare.milliseconds),
      (fromRowsMs(node) / bare.milliseconds).toFixed(2),
      milliseconds(node.rowsMilliseconds),
      (node.milliseconds / bare.milliseconds).toFixed(2),
      milliseconds(node.cpuMilliseconds),
      milliseconds(bare.cpuMilliseconds),
    ]),
    limits: [
      { what: 'of the bare loop, median', figure: quantile(ratios, 0.5), atMost, unit: 'times' },
    ],
    figures: { size, rounds, ratios },
  };
}

function fromRowsMs({ milliseconds: whole, rowsMilliseconds }: NodeMeasured): number {
  return whole - rowsMilliseconds;
}
