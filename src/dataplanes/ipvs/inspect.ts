import type { Desired, Inspection } from '../contract.ts';
import { Differences } from '../differences.ts';
import { type Compared, compareRows, type Found } from './comparison.ts';
import { Knowledge } from './knowledge.ts';
import type { IpvsPlaneOptions } from './options.ts';
import { type Kernel, perform } from './writer.ts';

/** Reads everything, assumes nothing, and retires what belongs to no row. */
export async function inspectEverything(
  kernel: Kernel,
  knowledge: Knowledge,
  { facts, rows }: Desired,
): Promise<Inspection> {
  knowledge.forget();
  kernel.print.forget();
  const ensured = await kernel.capture.ensure(facts);
  const found = await readEverything(kernel);
  knowledge.setFacts(facts);
  const differences = new Differences();
  const compared = compareRows(knowledge, rows, { found, differences });
  const writeCount = writesIn(compared) + hairpinWrites(knowledge);
  await perform(kernel, compared.leftovers);
  return {
    right: compared.right,
    differences: [...ensured.differences, ...differences.described],
    differenceCount: ensured.differenceCount + differences.count,
    writeCount: ensured.writeCount + writeCount,
  };
}

/** What an inspection would find. */
export async function diffEverything(
  { ipvs, capture, scheduler }: IpvsPlaneOptions,
  { facts, rows }: Desired,
): Promise<Differences> {
  const differences = Differences.ofAll();
  for (const difference of await capture.diff(facts)) differences.add(() => difference);
  const knowledge = new Knowledge(scheduler);
  knowledge.setFacts(facts);
  const found = await readEverything({ ipvs, capture });
  compareRows(knowledge, rows, { found, differences });
  return differences;
}

export async function readEverything({
  ipvs,
  capture,
}: Pick<Kernel, 'ipvs' | 'capture'>): Promise<Found> {
  const servers = await ipvs.read();
  return { servers, elements: await capture.read() };
}

function writesIn({ leftovers }: Compared): number {
  return leftovers.reduce(
    (sum, { pass, unlist, stops }) => sum + stops.length + (pass ? 1 : 0) + (unlist ? 1 : 0),
    0,
  );
}

/** `perform` writes them too. */
function hairpinWrites({ hairpins }: Knowledge): number {
  return hairpins.missing().length + hairpins.needless().length;
}
