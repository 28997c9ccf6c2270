import { Command } from 'commander';
import fc from 'fast-check';
import { updateDocument } from '../../../lab/host/document.ts';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { provideOracle } from '../../../lab/parts/oracle.ts';
import type { Answer } from './answer.ts';
import { differencesBetween } from './compare.ts';
import { Coverage } from './coverage.ts';
import { coverageMarkdown, coverageTable, unexplained } from './coverage-report.ts';
import { KNOWN_DIFFERENCES } from './differences.ts';
import { PLANTED_BUGS } from './planted.ts';
import { type ClusterState, clusterStates } from './states.ts';
import { startUpstream, type Upstream } from './upstream.ts';

interface Options {
  readonly states: number;
  readonly seed: number;
  readonly planted: boolean;
  readonly coverage: boolean;
  readonly docs?: string;
}

type Ours = (state: ClusterState) => Answer;

/** With a handful of choices of two, enough that one missed by chance is not to be expected. */
const UPSTREAM_CHANCES = 200;
/** A planted bug is found once it shows at all: no need to ask so often. */
const CHANCES_OF_PLANTED = 20;

export const command = new Command()
  .option('--states <count>', 'number of clusters', Number, 20_000)
  .option('--seed <number>', 'the same seed gives the same clusters', Number, Date.now() & 0xffff)
  .option('--planted', 'plant bugs and check that each is found', false)
  .option('--coverage', 'report which blocks of the policy the clusters reached', false)
  .option('--docs <file>', 'write the coverage into a Markdown file, between its marks')
  .action(async (options: Options) => {
    const progress = terminalProgress();
    using upstream = startUpstream(await provideOracle({ progress }));
    const coverage = new Coverage();
    if (options.coverage) await coverage.start();
    // Not before: of what is loaded already the engine would count only a part.
    const { askOurs } = await import('./ours.ts');
    if (options.planted) await findPlanted(options, { upstream, ours: askOurs });
    else await compare(options, { upstream, ours: askOurs });
    if (options.coverage) await tellCoverage(coverage, options);
  });

interface Sides {
  readonly upstream: Upstream;
  readonly ours: Ours;
}

async function tellCoverage(coverage: Coverage, { docs }: Options): Promise<void> {
  const files = await coverage.take();
  console.log(coverageTable(files));
  const problems = unexplained(files);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
  if (docs !== undefined) await updateDocument(docs, 'oracle-coverage', coverageMarkdown(files));
}

async function compare({ states, seed }: Options, sides: Sides): Promise<void> {
  const outcome = await terminalProgress().step(`${states} clusters, seed ${seed}`, () =>
    fc.check(agreement({ ...sides, chances: UPSTREAM_CHANCES }), {
      numRuns: states,
      seed,
    }),
  );
  if (!outcome.failed) {
    console.log(`${states} of ${states} clusters equal, except for:`);
    for (const { name, reason } of KNOWN_DIFFERENCES) console.log(`- ${name}: ${reason}`);
    return;
  }
  console.log(`Different in cluster ${outcome.numRuns}, shrunk ${outcome.numShrinks} times:`);
  console.log(JSON.stringify(outcome.counterexample?.[0], null, 2));
  if (!(outcome.errorInstance instanceof Disagreement)) throw outcome.errorInstance;
  console.log(outcome.errorInstance.found.join('\n'));
  process.exitCode = 1;
}

async function findPlanted({ states, seed }: Options, sides: Sides): Promise<void> {
  for (const { name, blind } of PLANTED_BUGS) {
    const ours = (state: ClusterState): Answer => sides.ours(blind(state));
    const property = agreement({ ...sides, ours, chances: CHANCES_OF_PLANTED });
    const outcome = await fc.check(property, { numRuns: states, seed, endOnFailure: true });
    if (!outcome.failed) process.exitCode = 1;
    console.log(`${outcome.failed ? `found in cluster ${outcome.numRuns}` : 'NOT FOUND'}: ${name}`);
  }
}

interface Comparison extends Sides {
  readonly chances: number;
}

function agreement(comparison: Comparison): fc.IAsyncPropertyWithHooks<[ClusterState]> {
  return fc.asyncProperty(clusterStates(), async (state) => {
    const found = await disagreement(comparison, state);
    if (found.length > 0) throw new Disagreement(found);
  });
}

/**
 * Which of several equal endpoints of different slices counts, upstream leaves to the order of a
 * Go map. Where its answer varies, ours must be one of them.
 */
async function disagreement(comparison: Comparison, state: ClusterState): Promise<string[]> {
  const ours = comparable(comparison.ours(state), state);
  let found: string[] = [];
  for (let attempt = 0; attempt < comparison.chances; attempt++) {
    found = differencesBetween(ours, comparable(await comparison.upstream.ask(state), state));
    if (found.length === 0) return [];
  }
  return found;
}

function comparable(answer: Answer, state: ClusterState): Answer {
  return KNOWN_DIFFERENCES.reduce((kept, { forgive }) => forgive(kept, state), answer);
}

class Disagreement extends Error {
  readonly found: readonly string[];

  constructor(found: readonly string[]) {
    super(found.join('; '));
    this.found = found;
  }
}
