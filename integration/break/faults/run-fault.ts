import { LabError } from '../../../lab/host/errors.ts';
import { until } from '../../../lab/host/until.ts';
import type { Fault } from './fault.ts';
import { type Scene, unlessNoAnswer } from './scene.ts';
import {
  type Differences,
  describeDifferences,
  differencesOf,
  isRight,
  readTruth,
} from './truth.ts';
import type { Watcher } from './watcher.ts';

export interface FaultResult {
  readonly fault: Fault;
  readonly felt: readonly string[];
  /** From the end of the fault and of the changes. */
  readonly rightAfterMs: number;
  /** What is wrong; empty if nothing is. */
  readonly failure?: string;
}

const RIGHT_DEADLINE_MS = 60_000;

/** Runs a fault against a watcher, and measures how long its model stays wrong. */
export async function runFault(scene: Scene, fault: Fault): Promise<FaultResult> {
  const middleman = fault.way === 'middleman' ? await scene.middleman() : undefined;
  await using watcher = scene.watcher(middleman);
  await watcher.start();
  await becomesRight(scene, watcher);
  if (fault.way === 'straight') await fault.happen(scene, watcher);
  else if (middleman !== undefined) {
    await fault.happen(scene, watcher, middleman);
    middleman.misbehaviour = {};
  }
  const overAt = performance.now();
  const failure = await failureAfter({ scene, watcher, fault });
  const rightAfterMs = performance.now() - overAt;
  if (failure !== undefined) return { fault, felt: watcher.problems(), rightAfterMs, failure };
  // Right by chance is not enough: it has to hear what comes next, too.
  await scene.changes.throughApi(scene.api, 1);
  const deafness = await failureAfter({ scene, watcher, fault });
  const result = { fault, felt: watcher.problems(), rightAfterMs };
  return deafness === undefined ? result : { ...result, failure: `later changes: ${deafness}` };
}

async function failureAfter(of: {
  scene: Scene;
  watcher: Watcher;
  fault: Fault;
}): Promise<string | undefined> {
  const differences = await becomesRight(of.scene, of.watcher);
  if (differences !== undefined) return describeDifferences(differences);
  const { feltAs } = of.fault;
  const isFelt = feltAs === undefined || of.watcher.problems().includes(feltAs);
  return isFelt ? undefined : `never noticed ${feltAs}`;
}

/** Resolves with nothing as soon as the model is right, or with what is wrong at the deadline. */
async function becomesRight(scene: Scene, watcher: Watcher): Promise<Differences | undefined> {
  let last: Differences = { lost: [], phantom: [], stale: [] };
  const isRightNow = async (): Promise<boolean> => {
    const model = watcher.observation.table;
    const truth = await readTruth(scene.api, model.view).catch(unlessNoAnswer);
    if (truth === undefined) return false;
    last = differencesOf(model, truth);
    return isRight(last);
  };
  try {
    await until(isRightNow, { what: 'the model to be right', deadlineMs: RIGHT_DEADLINE_MS });
    return undefined;
  } catch (error) {
    if (error instanceof LabError && error.code === 'LAB_DEADLINE') return last;
    throw error;
  }
}
