import { abortable } from '../../lab/host/interruption.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { DEFAULT_NETWORK } from '../../lab/network/variants/registry.ts';
import { Barrier } from '../runner/barrier.ts';
import { AddressPool } from '../world.ts';
import { ActedTheatre } from './acted-theatre.ts';
import { LateTheatre } from './late-theatre.ts';
import { OutsideTheatre } from './outside-theatre.ts';
import { playUntilCounted } from './play-again.ts';
import type { ActedSabotage, LateSabotage, OutsideSabotage, Sabotage } from './sabotage.ts';
import {
  BARRIER_DEADLINE_MS,
  type SabotageResult,
  type SabotageRun,
  type Stage,
  type Verdict,
} from './stage.ts';

/** A sabotaged world stays wrong: no need to wait as long as for a slow but honest proxy. */
const MOST_LATENESS_MS = 2_000;

/**
 * Plants each fault in a healthy world and sees whether it is noticed. What is to notice it is
 * first run without a fault: a scenario that always fails catches nothing.
 */
export async function runSabotages(plan: SabotageRun): Promise<SabotageResult[]> {
  await using lab = await plan.progress.step('lab', () => startLab({ signal: plan.signal }));
  const stage = stageIn(lab, plan);
  const results: SabotageResult[] = [];
  const playAll = async <T extends Sabotage>(
    sabotages: readonly T[],
    play: (sabotage: T) => Promise<Verdict>,
  ): Promise<void> => {
    for (const sabotage of sabotages) {
      const judged = await abortable(timed(sabotage, play), plan.signal);
      const result = { proxy: plan.variant.name, ...judged };
      plan.onResult(result);
      results.push(result);
    }
  };
  const acted = plan.sabotages.filter(isActed);
  if (acted.length > 0) {
    await using theatre = await ActedTheatre.open(stage);
    await playAll(acted, (sabotage) => theatre.play(sabotage));
  }
  const late = plan.sabotages.filter(isLate);
  if (late.length > 0) {
    await using theatre = await LateTheatre.open(stage);
    await playAll(late, (sabotage) => theatre.play(sabotage));
  }
  const outside = plan.sabotages.filter(isOutside);
  if (outside.length > 0) {
    await using theatre = await OutsideTheatre.open(stage);
    await playAll(outside, (sabotage) => theatre.play(sabotage));
  }
  return results;
}

function stageIn(lab: Lab, plan: SabotageRun): Stage {
  const barrier = new Barrier(lab, BARRIER_DEADLINE_MS);
  const { name: proxy, lateness } = plan.variant;
  const latenessMs = Math.min(lateness?.withinMs ?? 0, MOST_LATENESS_MS);
  let serial = 0;
  return {
    lab,
    plan,
    barrier,
    bench: {
      lab,
      proxy,
      network: DEFAULT_NETWORK,
      barrier,
      addresses: new AddressPool(),
      latenessMs,
    },
    nextSerial: () => ++serial,
  };
}

async function timed<T extends Sabotage>(
  sabotage: T,
  play: (sabotage: T) => Promise<Verdict>,
): Promise<Omit<SabotageResult, 'proxy'>> {
  const startedAt = performance.now();
  const verdict = await playUntilCounted(() => play(sabotage));
  const head = { sabotage: sabotage.name, title: sabotage.title, scenario: noticerOf(sabotage) };
  return { ...head, ...verdict, milliseconds: Math.round(performance.now() - startedAt) };
}

function noticerOf(sabotage: Sabotage): string {
  if (isActed(sabotage)) return sabotage.scenario;
  if (isOutside(sabotage)) return sabotage.outside;
  const { noticedBy } = sabotage;
  return typeof noticedBy === 'object' ? noticedBy.scenario : noticedBy;
}

function isActed(sabotage: Sabotage): sabotage is ActedSabotage {
  return 'act' in sabotage;
}

function isLate(sabotage: Sabotage): sabotage is LateSabotage {
  return 'delayMs' in sabotage;
}

function isOutside(sabotage: Sabotage): sabotage is OutsideSabotage {
  return 'outside' in sabotage;
}
