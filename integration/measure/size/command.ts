import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import type { Comparison } from './change.ts';

/** What one process measured of itself. */
interface Measured {
  readonly milliseconds: number;
  readonly residentMegabytes: number;
}

interface BareMeasured extends Measured {
  readonly megabytes: number;
}

interface ModelMeasured extends Measured {
  readonly heapMegabytes: number;
  readonly change: Comparison;
}

interface Size {
  readonly services: number;
  readonly endpointsPerService: number;
}

const SIZES: readonly Size[] = [
  { services: 100, endpointsPerService: 5 },
  { services: 10_000, endpointsPerService: 10 },
  { services: 50_000, endpointsPerService: 5 },
];
/** So that the memory that is measured is the model's, and not what is about to be collected. */
const SMALL_NURSERY = '--max-semi-space-size=4';
const PROCESS_DEADLINE_MS = 120_000;
const BARE = join(import.meta.dirname, 'bare.ts');
const MODEL = join(import.meta.dirname, 'model.ts');

export const command = new Command()
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .action(measureAll);

async function measureAll({ docs }: { docs?: string }): Promise<void> {
  const progress = terminalProgress();
  const signal = interruption();
  const rows: string[][] = [];
  await using folder = await mkdtempDisposable(join(tmpdir(), 'fairlead-size-'));
  const bundle = join(folder.path, 'model.mjs');
  await progress.step('bundle', () => bundleModel(bundle));
  for (const load of SIZES) {
    const title = `${load.services} Services x ${load.endpointsPerService}`;
    await using lab = await startLab({ nodeCount: 1, load, progress, signal });
    await progress.step(title, async () => {
      const bare = await measure<BareMeasured>(lab, BARE);
      const model = await measure<ModelMeasured>(lab, MODEL);
      const bundled = await measure<ModelMeasured>(lab, bundle);
      rows.push(rowOf({ title, bare, model, bundled }));
    });
  }
  console.log(formatTable([HEAD, ...rows]));
  if (docs !== undefined) await updateDocument(docs, 'size', markdownOf(rows));
}

/** The form in which a node runs it, without Node's own reader of TypeScript in the process. */
async function bundleModel(file: string): Promise<void> {
  const tool = join(import.meta.dirname, '../../../tools/bundle.ts');
  await run([process.execPath, tool, MODEL, file]);
}

async function measure<T extends Measured>(lab: Lab, script: string): Promise<T> {
  const argv = [process.execPath, SMALL_NURSERY, script] as const;
  const output = await run(
    enterNamespace(lab.namespacePath('node1'), [...argv, lab.credentials.proxyKubeconfig]),
    { deadlineMs: PROCESS_DEADLINE_MS },
  );
  return JSON.parse(output) as T;
}

const HEAD = [
  'CLUSTER',
  'BYTES',
  'BARE',
  'MODEL',
  'RATIO',
  'BARE RSS',
  'MODEL RSS',
  'BUNDLE RSS',
  'ONE CHANGE',
  'OF 100 SERVICES',
];

function markdownOf(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = HEAD.map((title) => title.toLowerCase());
  return [line(head), `|${'---|'.repeat(HEAD.length)}`, ...rows.map(line)].join('\n');
}

interface Results {
  readonly title: string;
  readonly bare: BareMeasured;
  readonly model: ModelMeasured;
  readonly bundled: ModelMeasured;
}

function rowOf({ title, bare, model, bundled }: Results): string[] {
  const { large, growth } = bundled.change;
  return [
    title,
    `${bare.megabytes} MB`,
    `${bare.milliseconds} ms`,
    `${model.milliseconds} ms`,
    (model.milliseconds / bare.milliseconds).toFixed(2),
    `${bare.residentMegabytes} MB`,
    `${model.residentMegabytes} MB (heap ${model.heapMegabytes})`,
    `${bundled.residentMegabytes} MB`,
    `${large.whole.toFixed(0)} µs (model ${large.model.toFixed(0)})`,
    `${growth.whole.toFixed(1)} (model ${growth.model.toFixed(1)})`,
  ];
}
