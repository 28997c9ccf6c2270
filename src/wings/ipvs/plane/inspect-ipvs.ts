import type { Desired, Inspection } from '../../../dataplanes/contract.ts';
import { Differences } from '../../../dataplanes/differences.ts';
import { Knowledge } from './ipvs-knowledge.ts';
import type { IpvsPlaneOptions } from './ipvs-options.ts';
import { type Kernel, perform } from './ipvs-writer.ts';
import { ownNow } from './own-service-addresses.ts';
import { type Compared, compareRows } from './server-comparison.ts';
import type { Found } from './server-state.ts';

export interface Inspected extends Inspection {
  readonly foreign: Compared['foreign'];
}

interface Known {
  readonly knowledge: Knowledge;
  /** Virtual servers that were ours before. */
  readonly ours: ReadonlySet<string>;
  /** See `ownNow`. */
  readonly own: ReadonlySet<string>;
}

/**
 * Reads everything, assumes nothing but what was ours before, and retires what belongs to no row. What
 * IPVS rejects of that is tried again by the drainer.
 */
export async function inspectEverything(
  kernel: Kernel,
  { knowledge, ours, own }: Known,
  { facts, rows }: Desired,
): Promise<Inspected> {
  knowledge.forget();
  knowledge.own = own;
  kernel.print.forget();
  const ensured = await kernel.capture.ensure(facts);
  // Before everything is read: a change after it is found by the next poll, one before it now.
  kernel.print.believe(await kernel.ipvs.fingerprint('whole'));
  const found = await readEverything(kernel);
  knowledge.setFacts(facts);
  const differences = new Differences();
  const compared = compareRows(knowledge, rows, { found, ours, differences });
  const writeCount = writesIn(compared) + hairpinWrites(knowledge);
  await perform(kernel, compared.leftovers);
  return {
    right: compared.right,
    foreign: compared.foreign,
    differences: [...ensured.differences, ...differences.described],
    differenceCount: ensured.differenceCount + differences.count,
    writeCount: ensured.writeCount + writeCount,
  };
}

/** What an inspection would find. */
export async function diffEverything(
  { ipvs, capture, scheduler, mostWeight, readOwn }: IpvsPlaneOptions,
  { facts, rows }: Desired,
): Promise<Differences> {
  const differences = Differences.ofAll();
  for (const difference of await capture.diff(facts)) differences.add(() => difference);
  const knowledge = new Knowledge(scheduler, mostWeight);
  knowledge.setFacts(facts);
  knowledge.own = await ownNow(facts, readOwn);
  const found = await readEverything({ ipvs, capture });
  compareRows(knowledge, rows, { found, ours: new Set(), differences });
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
    (sum, { pass, unlist, accept, stops }) =>
      sum + stops.length + [pass, unlist, accept].filter(Boolean).length,
    0,
  );
}

/** `perform` writes them too. */
function hairpinWrites({ hairpins }: Knowledge): number {
  return hairpins.missing().length + hairpins.needless().length;
}
