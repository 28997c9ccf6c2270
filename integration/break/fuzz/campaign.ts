import fc from 'fast-check';
import type { Progress } from '../../../lab/host/progress.ts';
import { MemoryGrowth } from './broken.ts';
import { MOST_GROWTH_MB, usedMegabytes } from './memory.ts';
import { objectCases, objectOf, runObjectCase } from './object-cases.ts';
import type { Sabotage } from './planted.ts';
import { runStreamCase, streamCases } from './stream-cases.ts';
import { Tally } from './tally.ts';
import { World } from './world.ts';

export interface CampaignOptions {
  readonly objects: number;
  readonly seed: number;
  readonly sabotage: Sabotage;
  readonly progress: Progress;
}

export interface Result {
  readonly tally: Tally;
  readonly seconds: number;
  readonly memory: readonly { readonly objects: number; readonly megabytes: number }[];
  readonly failure?: Failure;
}

export interface Failure {
  readonly error: unknown;
  /** The case after shrinking, and the objects that it is made of. */
  readonly shrunk?: unknown;
  readonly objects?: readonly unknown[];
}

const ROUNDS = 10;
/** Seeds of two runs and of their rounds shall not be the same ones. */
const APART = 65_537;
const OBJECTS_OF_CASE = 12;
const LINES_OF_CASE = 16;

/** Malformed objects and malformed streams alternately, until enough passed or one failed. */
export async function runCampaign(options: CampaignOptions): Promise<Result> {
  const { objects, seed, sabotage, progress } = options;
  const tally = new Tally();
  const scene = new Scene(sabotage, tally);
  const memory: { objects: number; megabytes: number }[] = [];
  const startedAt = performance.now();
  let failure: Failure | undefined;
  const half = objects / ROUNDS / 2;
  for (let round = 0; tally.given < objects && failure === undefined; round++) {
    const title = `round ${round + 1}: ${tally.given} of ${objects} objects so far`;
    failure = await progress.step(title, async () => {
      const at = { seed: seed + round * APART };
      const found =
        (await scene.objects({ ...at, numRuns: Math.ceil(half / OBJECTS_OF_CASE) })) ??
        (await scene.streams({ ...at, numRuns: Math.ceil(half / LINES_OF_CASE) }));
      memory.push({ objects: tally.given, megabytes: usedMegabytes() });
      return found ?? growth(memory);
    });
  }
  scene.close();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { tally, seconds, memory, ...(failure === undefined ? {} : { failure }) };
}

function growth(memory: Result['memory']): Failure | undefined {
  const grown = (memory.at(-1)?.megabytes ?? 0) - (memory[0]?.megabytes ?? 0);
  if (grown <= MOST_GROWTH_MB) return undefined;
  const allowed = `${MOST_GROWTH_MB} MB are allowed`;
  return { error: new MemoryGrowth(`memory has grown by ${grown.toFixed(1)} MB; ${allowed}`) };
}

interface Runs {
  readonly seed: number;
  readonly numRuns: number;
}

/** One world for all cases; a case that broke it leaves a new one, so that shrinking is honest. */
class Scene {
  readonly #sabotage: Sabotage;
  readonly #tally: Tally;
  /** Once: fast-check maps every character of Unicode to build them. */
  readonly #objectCases = objectCases();
  readonly #streamCases = streamCases();
  #world: World;

  constructor(sabotage: Sabotage, tally: Tally) {
    this.#sabotage = sabotage;
    this.#tally = tally;
    this.#world = new World(sabotage);
  }

  async objects(runs: Runs): Promise<Failure | undefined> {
    const property = fc.asyncProperty(this.#objectCases, async (steps) =>
      this.#inWorld(async (world) => runObjectCase(world, steps, this.#tally)),
    );
    const outcome = await fc.check(property, { ...runs });
    if (!outcome.failed) return undefined;
    const steps = outcome.counterexample?.[0] ?? [];
    return { error: outcome.errorInstance, shrunk: steps, objects: steps.map(objectOf) };
  }

  async streams(runs: Runs): Promise<Failure | undefined> {
    const property = fc.asyncProperty(this.#streamCases, async (of) =>
      this.#inWorld((world) => runStreamCase(world, of, this.#tally)),
    );
    const outcome = await fc.check(property, { ...runs });
    if (!outcome.failed) return undefined;
    return { error: outcome.errorInstance, shrunk: outcome.counterexample?.[0] };
  }

  close(): void {
    this.#world.close();
  }

  async #inWorld(run: (world: World) => Promise<void>): Promise<void> {
    try {
      await run(this.#world);
    } catch (error) {
      this.#tally.close();
      this.#world.close();
      this.#world = new World(this.#sabotage);
      throw error;
    }
  }
}
