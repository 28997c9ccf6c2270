import { join } from 'node:path';
import { Command } from 'commander';
import { updateDocument } from '../../lab/host/document.ts';
import { interruption } from '../../lab/host/interruption.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { run } from '../../lab/host/run.ts';
import { formatTable } from '../../lab/host/table.ts';
import { type Lab, startLab } from '../../lab/lab.ts';

/** What one process measured of itself. */
interface Measured {
  readonly milliseconds: number;
  readonly residentMegabytes: number;
  readonly megabytes?: number;
  readonly ports?: number;
  readonly heapMegabytes?: number;
  readonly changeMicroseconds?: number;
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
/** A proxy's objects live long: a large nursery only costs memory. As a node would run it. */
const SMALL_NURSERY = '--max-semi-space-size=4';
const PROCESS_DEADLINE_MS = 120_000;

const program = new Command('size')
  .description('Time and memory from connecting to a complete model, beside a bare client')
  .option('--docs <file>', 'write the table into a Markdown file, between its marks')
  .action(measureAll);

async function measureAll({ docs }: { docs?: string }): Promise<void> {
  const progress = terminalProgress();
  const signal = interruption();
  const rows: string[][] = [];
  for (const load of SIZES) {
    const title = `${load.services} Services x ${load.endpointsPerService}`;
    await using lab = await startLab({ nodeCount: 1, load, progress, signal });
    const [bare, model] = await progress.step(title, async () => [
      await measure(lab, 'bare.ts'),
      await measure(lab, 'model.ts'),
    ]);
    rows.push(rowOf({ title, bare, model }));
  }
  console.log(formatTable([HEAD, ...rows]));
  if (docs !== undefined) await updateDocument(docs, 'size', markdownOf(rows));
}

async function measure(lab: Lab, script: 'bare.ts' | 'model.ts'): Promise<Measured> {
  const argv = [process.execPath, SMALL_NURSERY, join(import.meta.dirname, script)] as const;
  const output = await run(
    enterNamespace(lab.namespacePath('node1'), [...argv, lab.credentials.proxyKubeconfig]),
    { deadlineMs: PROCESS_DEADLINE_MS },
  );
  return JSON.parse(output) as Measured;
}

const HEAD = ['CLUSTER', 'BYTES', 'BARE', 'MODEL', 'RATIO', 'BARE RSS', 'MODEL RSS', 'ONE CHANGE'];

function markdownOf(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = HEAD.map((title) => title.toLowerCase());
  return [line(head), `|${'---|'.repeat(HEAD.length)}`, ...rows.map(line)].join('\n');
}

function rowOf(of: { title: string; bare: Measured; model: Measured }): string[] {
  const { title, bare, model } = of;
  return [
    title,
    `${bare.megabytes} MB`,
    `${bare.milliseconds} ms`,
    `${model.milliseconds} ms`,
    (model.milliseconds / bare.milliseconds).toFixed(2),
    `${bare.residentMegabytes} MB`,
    `${model.residentMegabytes} MB (heap ${model.heapMegabytes})`,
    `${model.changeMicroseconds} µs`,
  ];
}

await program.parseAsync();
