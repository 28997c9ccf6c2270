import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { describeMachine, machineText } from '../../../bench/machine.ts';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { type Progress, terminalProgress } from '../../../lab/host/progress.ts';
import { measureChange } from './change.ts';
import { measureCold } from './cold.ts';
import { isKept, type Section, sectionMarkdown, sectionText } from './report.ts';
import { bundleAll } from './shipped.ts';
import { measureStages } from './stages.ts';

const MEASURES = ['change', 'cold'] as const;
type Measure = (typeof MEASURES)[number];

interface Options {
  readonly measure?: readonly Measure[];
  readonly quick?: true;
  readonly json?: string;
  readonly docs?: string;
}

const FEW = 100;
const QUICK = { services: 1_000, endpointsPerService: 5 };
/** With fewer the table and its chains, which every start makes, are most of the work. */
const QUICK_COLD = { services: 5_000, endpointsPerService: 5 };
const FULL = { services: 50_000, endpointsPerService: 5 };

export const command = new Command()
  .addOption(
    new Option('--measure <names...>', 'only these; all of them when not given').choices(MEASURES),
  )
  .option('--quick', 'one minute, without a cluster: checks that costs do not grow with Services')
  .option('--json <file>', 'write the figures into a file')
  .option('--docs <file>', 'write the tables into a document, between their marks')
  .action(measureAll);

async function measureAll(options: Options): Promise<void> {
  const progress = terminalProgress();
  const signal = interruption();
  const machine = await describeMachine();
  await bundleAll(progress);
  const sections: Section[] = options.quick
    ? await quickly(progress, signal)
    : await thoroughly(options.measure ?? MEASURES, progress, signal);
  const where = machineText(machine);
  for (const section of sections) console.log(`${sectionText(section)}${where}\n`);
  if (options.json !== undefined) {
    const results = sections.map(({ name, limits, figures }) => ({ name, limits, figures }));
    await writeFile(options.json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
  }
  if (options.docs !== undefined) {
    for (const section of sections) {
      const body = `${sectionMarkdown(section)}\n\n${where}.`;
      await updateDocument(options.docs, section.name, body);
    }
  }
  if (!sections.every(({ limits }) => limits.every(isKept))) process.exitCode = 1;
}

async function quickly(progress: Progress, signal: AbortSignal): Promise<Section[]> {
  const { services: many, endpointsPerService } = QUICK;
  return [
    await measureStages({
      few: FEW,
      many,
      endpointsPerService,
      blocks: 20,
      atMost: 2,
      progress,
      signal,
    }),
    await measureCold({
      size: QUICK_COLD,
      rounds: 7,
      warmUps: 3,
      atMost: 3,
      progress,
      signal,
    }),
  ];
}

async function thoroughly(
  measures: readonly Measure[],
  progress: Progress,
  signal: AbortSignal,
): Promise<Section[]> {
  const sections: Section[] = [];
  if (measures.includes('cold')) {
    sections.push(await measureCold({ size: FULL, rounds: 5, atMost: 2, progress, signal }));
  }
  if (measures.includes('change')) {
    const { services: many, endpointsPerService } = FULL;
    const size = { few: FEW, many, endpointsPerService };
    sections.push(await measureStages({ ...size, blocks: 20, atMost: 1.5, progress, signal }));
    sections.push(...(await measureChange(progress, signal)));
  }
  return sections;
}
