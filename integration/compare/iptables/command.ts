import { Command, Option } from 'commander';
import fc from 'fast-check';
import { CORPUS } from '../../../conformance/corpus.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { corpusStates } from './corpus-states.ts';
import { createMarker, createState, emptyNamespace, ensureNamespace } from './objects.ts';
import { differences, readSaves } from './saves.ts';
import { type BackendName, PROGRAMS, startSides } from './sides.ts';
import { type NamespaceState, namespaceStates } from './states.ts';

interface Options {
  readonly states: number;
  readonly seed: number;
  readonly backend: BackendName | 'both';
  readonly corpus: boolean;
}

/** Namespaces that are filled at once: with more, upstream would leave out comments. */
const BATCH = 40;
const SETTLE_DEADLINE_MS = 40_000;
const MOST_SHOWN = 20;

export const command = new Command()
  .option('--states <count>', 'number of generated namespaces', Number, 320)
  .option('--seed <number>', 'the same seed gives the same namespaces', Number, 4711)
  .option('--no-corpus', 'skip the objects of the conformance scenarios')
  .addOption(new Option('--backend <name>').choices(['nft', 'legacy', 'both']).default('both'))
  .action(compareAll);

async function compareAll(options: Options): Promise<void> {
  const backends: BackendName[] =
    options.backend === 'both' ? ['nft', 'legacy'] : [options.backend];
  for (const backend of backends) {
    const { equal, total, lines } = await compareOn(backend, options);
    console.log(`${backend}: ${equal} of ${total} states equal, ${lines} lines compared`);
    if (equal < total) process.exitCode = 1;
  }
}

interface Tally {
  equal: number;
  total: number;
  lines: number;
}

async function compareOn(backend: BackendName, options: Options): Promise<Tally> {
  const progress = terminalProgress();
  const signal = interruption();
  await using lab = await startLab({ nodeCount: 2, progress, signal });
  await progress.step(`upstream and Fairlead on ${backend}`, () => startSides(lab, backend));
  const states = [...(options.corpus ? corpusStates(CORPUS) : []), ...generated(options)];
  const tally: Tally = { equal: 0, total: 0, lines: 0 };
  for (let from = 0; from < states.length && !signal.aborted; from += BATCH) {
    const batch = states.slice(from, from + BATCH);
    await progress.step(`states ${from} to ${from + batch.length - 1}`, () =>
      compareBatch(lab, { batch, backend, tally }),
    );
  }
  return tally;
}

function generated({ states, seed }: Options): NamespaceState[] {
  return Array.from({ length: states }, (_, index) => {
    const [state] = fc.sample(namespaceStates(index % BATCH), { numRuns: 1, seed: seed + index });
    return state as NamespaceState;
  });
}

async function compareBatch(
  lab: Lab,
  of: { batch: readonly NamespaceState[]; backend: BackendName; tally: Tally },
): Promise<void> {
  const { batch, backend, tally } = of;
  const namespaces = batch.map((_, index) => `q${index}`);
  await Promise.all(namespaces.map((name) => ensureNamespace(lab.api, name)));
  const rejected = await Promise.all(
    batch.map((state, index) => createState(lab.api, `q${index}`, state)),
  );
  await createMarker(lab.api, 'q0', 'marker');
  const found = await settled(lab, backend);
  tally.total += batch.length;
  tally.lines += found.lineCount;
  // A line names its Service by its namespace or by a hash: a batch is equal as a whole or not.
  if (found.different.length === 0) tally.equal += batch.length;
  else console.log(found.different.slice(0, MOST_SHOWN).join('\n'));
  for (const reason of new Set(rejected.flat())) console.log(`the API server rejected: ${reason}`);
  await Promise.all(namespaces.map((name) => emptyNamespace(lab.api, name)));
}

/** Waits for both to have everything, and to agree; gives what they differ in if they do not. */
async function settled(
  lab: Lab,
  backend: BackendName,
): Promise<{ different: readonly string[]; lineCount: number }> {
  const read = (node: string): Promise<string[]> =>
    readSaves(lab.namespacePath(node), PROGRAMS[backend]);
  let last: { different: readonly string[]; lineCount: number } = { different: [], lineCount: 0 };
  const isSettled = async (): Promise<boolean> => {
    const [upstream, ours] = await Promise.all([read('node1'), read('node2')]);
    const different = differences(upstream, ours);
    last = { different, lineCount: upstream.length };
    return different.length === 0 && [upstream, ours].every(hasMarker);
  };
  const options = { what: 'both to agree', deadlineMs: SETTLE_DEADLINE_MS, everyMs: 500 };
  await until(isSettled, options).catch((error: unknown) => {
    // A timeout is a finding too; the report says in what they differ.
    if (last.different.length === 0) throw error;
  });
  return last;
}

function hasMarker(lines: readonly string[]): boolean {
  const isThere = (family: string): boolean =>
    lines.some((line) => line.startsWith(`${family} nat -A`) && line.includes('"q0/marker -> '));
  return isThere('iptables') && isThere('ip6tables');
}
