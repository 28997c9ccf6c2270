import { paths } from '../../lab/api/objects.ts';
import { LabError } from '../../lab/host/errors.ts';
import type { Lab } from '../../lab/lab.ts';
import { FAMILIES, type Family } from '../../lab/network/plan.ts';
import type { Allowance } from '../../lab/proxies/contract.ts';
import type { Explaining } from '../explain/beside.ts';
import { whyNotExplained } from '../explain/not-proven.ts';
import { type ExplainCount, ExplainTally } from '../explain/tally.ts';
import { differenceOf, expectationOf, labelOf, type Place } from '../known-difference.ts';
import { askUntilRight } from '../questions/ask.ts';
import { startStopwatch, takenShare } from '../questions/stopwatch.ts';
import type { Question, Scenario, Step } from '../scenario.ts';
import { type AddressPool, type OutsideAgent, World } from '../world.ts';
import type { Barrier } from './barrier.ts';
import { applyChange } from './changes.ts';
import { mapConcurrently } from './concurrently.ts';
import { createPod, createService, writeSlices } from './declare.ts';
import { HeldFlows } from './flows.ts';
import { PortScans } from './port-scans.ts';
import { slicesReflect } from './slices-reflect.ts';

export interface ScenarioResult {
  readonly scenario: string;
  readonly proxy: string;
  readonly result: 'pass' | 'fail' | 'known-difference' | 'not-asked';
  /** Empty for a pass. */
  readonly reason: string;
  /** If it failed: whether an answer was wrong, or the lab failed. */
  readonly failedBy?: 'answer' | 'lab';
  readonly milliseconds: number;
  /** If it failed: what the host of this machine took of its processors meanwhile, from 0 to 1. */
  readonly takenShare?: number;
  /** Runs before this one that do not count. */
  readonly disturbed?: readonly DisturbedRun[];
  /** What `fairlead explain` was asked beside; undefined: nothing. */
  readonly explained?: ExplainCount;
}

/** A run of a scenario that does not count: it failed while the host had the processors. */
export interface DisturbedRun {
  readonly reason: string;
  readonly takenShare: number;
}

const QUESTIONS_AT_ONCE = 6;

/** Where scenarios are run: a lab, a proxy on its nodes, and a way to know it has caught up. */
export interface Bench {
  readonly lab: Lab;
  readonly proxy: string;
  /** The network of the lab. */
  readonly network: string;
  readonly barrier: Barrier;
  readonly addresses: AddressPool;
  /** Where Fairlead runs on the machine and on no node. */
  readonly outside?: OutsideAgent;
  /** How late the proxy may be with any answer; 0: the first must be right. */
  readonly latenessMs: number;
  /** `fairlead explain` is asked beside each question, and must agree with the packets. */
  readonly explaining?: Omit<Explaining, 'tally'> | undefined;
  /** Called when everything exists and before the first question: sabotage happens here. */
  readonly beforeSteps?: (world: World) => Promise<void>;
}

/** Runs one scenario in a Kubernetes namespace of its own. Never throws for what a proxy does. */
export async function runScenario(
  bench: Bench,
  scenario: Scenario,
  serial: number,
): Promise<ScenarioResult> {
  const lapse = startStopwatch();
  const tally = new ExplainTally();
  const notExplained = whyNotExplained(scenario.name);
  if (notExplained !== undefined) tally.countNotProven(notExplained);
  const asking = notExplained === undefined ? bench : { ...bench, explaining: undefined };
  const fault = await attempt(asking, scenario, { serial, tally })
    .then((reason) => reason && ({ reason, failedBy: 'answer' } as const))
    .catch((error: unknown) => {
      if (error instanceof LabError) return { reason: error.message, failedBy: 'lab' } as const;
      throw error;
    });
  const explained = bench.explaining && { explained: tally.count };
  const head = { scenario: scenario.name, proxy: labelOf(bench), ...explained };
  const elapsed = lapse();
  const milliseconds = Math.round(elapsed.afterMs);
  if (fault) {
    return { ...head, result: 'fail', ...fault, milliseconds, takenShare: takenShare(elapsed) };
  }
  const reasons = knownDifferences(scenario, bench);
  if (reasons.length === 0) return { ...head, result: 'pass', reason: '', milliseconds };
  return { ...head, result: 'known-difference', reason: reasons.join('; '), milliseconds };
}

async function attempt(
  bench: Bench,
  scenario: Scenario,
  { serial, tally }: { readonly serial: number; readonly tally: ExplainTally },
): Promise<string | undefined> {
  await using world = new World(bench, namespaceOf(scenario, serial));
  using flows = new HeldFlows();
  try {
    await build(world, scenario);
    await settle(bench, world);
    return await takeSteps({ bench, world, flows, tally }, scenario);
  } finally {
    // A scenario that failed may have left it stopped.
    await bench.outside?.start();
    await bench.barrier.leave(world.namespace);
  }
}

async function takeSteps(
  around: Pick<StepContext, 'bench' | 'world' | 'flows' | 'tally'>,
  scenario: Scenario,
): Promise<string | undefined> {
  const { bench, world } = around;
  await bench.beforeSteps?.(world);
  const families = scenario.families ?? FAMILIES;
  const scans = new PortScans(world);
  for (const [index, step] of scenario.steps.entries()) {
    const faults = await takeStep({ ...around, scans, step, families });
    const fault = faults.find((text) => text !== undefined);
    if (fault !== undefined) return `step ${index + 1}: ${fault}`;
  }
  return undefined;
}

function namespaceOf(scenario: Scenario, serial: number): string {
  const slug = scenario.name.replace(/[^a-z0-9]+/g, '-').slice(0, 50);
  return `${slug}-${serial}`;
}

async function build(world: World, scenario: Scenario): Promise<void> {
  await world.lab.api.create(paths.namespaces, { metadata: { name: world.namespace } });
  await Promise.all(
    Object.entries(scenario.pods ?? {}).map(([name, pod]) => createPod(world, name, pod)),
  );
  // One after the other: which of two Services is the older one must not be chance.
  for (const [name, service] of Object.entries(scenario.services ?? {})) {
    await createService(world, name, service);
  }
  for (const [name, slice] of Object.entries(scenario.slices ?? {})) {
    await writeSlices(world, name, slice);
  }
}

/** Waits until the controllers and then the proxies have caught up with all that was changed. */
async function settle(bench: Bench, world: World): Promise<void> {
  await bench.lab.slices.until(world.namespace, {
    what: 'to reflect the pods',
    holds: (slices) => slicesReflect(world, slices),
  });
  // Without a proxy there is nothing to wait for.
  if (world.outside?.isRunning !== false) await bench.barrier.pass(world.namespace);
}

interface StepContext {
  readonly bench: Bench;
  readonly world: World;
  readonly flows: HeldFlows;
  readonly tally: ExplainTally;
  readonly scans: PortScans;
  readonly step: Step;
  readonly families: readonly Family[];
}

async function takeStep(context: StepContext): Promise<(string | undefined)[]> {
  const { bench, world, flows, step, families } = context;
  const inEachFamily = (
    ask: (family: Family) => Promise<string | undefined>,
  ): Promise<(string | undefined)[]> => Promise.all(families.map(ask));
  if ('change' in step) {
    for (const change of step.change) await applyChange(world, change);
    await settle(bench, world);
    if (step.change.some((change) => 'taintNode' in change)) await bench.barrier.passNodes();
    return [];
  }
  if ('scan' in step) return [await context.scans.take(step)];
  if ('hold' in step) return await inEachFamily((family) => flows.hold(world, step.hold, family));
  if ('held' in step) {
    const expect = differenceOf(step.otherwise, bench)?.expect ?? step.expect;
    return await inEachFamily((family) =>
      flows.askHeld({ name: step.held, expect, family, withinMs: grantedMs(bench, step) }),
    );
  }
  return await inEachFamily((family) => askAll(context, step.ask, family));
}

/**
 * Questions of one step do not depend on each other and are asked side by side, so that a
 * scenario with many silences takes two seconds, not two for each. Packets at the fabric
 * are counted per address, not per client: questions that expect none share one round, and those
 * that expect some are asked one by one.
 */
async function askAll(
  { bench, world, tally }: StepContext,
  questions: readonly Question[],
  family: Family,
): Promise<string | undefined> {
  const rounds = Map.groupBy(questions, (question) => expectationOf(question, bench).escapes);
  for (const escapes of [undefined, false, true]) {
    const faults = await mapConcurrently(
      rounds.get(escapes) ?? [],
      escapes ? 1 : QUESTIONS_AT_ONCE,
      (question) =>
        askUntilRight(world, {
          question,
          family,
          proxy: bench.proxy,
          network: bench.network,
          withinMs: grantedMs(bench, question),
          explaining: bench.explaining && { ...bench.explaining, tally },
        }),
    );
    const fault = faults.find((text) => text !== undefined);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What the proxy is granted with every answer, or what this answer needs by specification. */
function grantedMs({ latenessMs }: Bench, { settles }: { settles?: Allowance }): number {
  return Math.max(latenessMs, settles?.withinMs ?? 0);
}

/** The reasons that a scenario gives for what this proxy does differently, each once. */
function knownDifferences(scenario: Scenario, place: Place): string[] {
  const reasons = scenario.steps.flatMap((step) => {
    if ('ask' in step)
      return step.ask.map((question) => differenceOf(question.otherwise, place)?.reason);
    if ('held' in step) return [differenceOf(step.otherwise, place)?.reason];
    return [];
  });
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
}
