import { abortable } from '../../../../lab/host/interruption.ts';
import type { Progress } from '../../../../lab/host/progress.ts';
import { startLab } from '../../../../lab/lab.ts';
import { LOAD } from '../changes.ts';
import { Scene } from '../scene.ts';
import { CLEANUP_FAULT } from './cleanup-fault.ts';
import { clockFaults } from './clock-faults.ts';
import { FLIPS_FAULT } from './flips-fault.ts';
import { FLOWS_FAULT } from './flows-fault.ts';
import { type ForwarderSizes, forwarderFaults } from './forwarder/forwarder-faults.ts';
import { HOOK_FAULTS } from './hook-faults.ts';
import { IPVS_FAULTS } from './ipvs/ipvs-faults.ts';
import { EARLIER_COMMIT, layoutFault } from './layout-fault.ts';
import { MAP_FAULT } from './map-faults.ts';
import { NETLINK_FAULT } from './netlink-fault.ts';
import { type PlaneFault, type PlaneResult, runPlaneFault } from './plane-fault.ts';
import { planeProxy } from './plane-proxies.ts';
import { PlaneScene } from './plane-scene.ts';
import { processFaults } from './process-faults.ts';
import { stopFault } from './stop-fault.ts';
import { SWITCH_FAULT } from './switch-fault.ts';
import { TOUCH_FAULTS } from './touch-faults.ts';

export interface FaultChoices {
  /** How often the process of the node dies. */
  readonly kills: number;
  /** How long the process of the node stands still. */
  readonly stoppedSeconds?: number;
  /** The commit whose layout of the rules is taken over, and handed back. */
  readonly earlierCommit?: string;
  /** Of a mode with a forwarder; the full ones when not given. */
  readonly forwarder?: ForwarderSizes;
}

/** What can happen to a node with this proxy. */
export function planeFaults(proxy: string, choices: FaultChoices): readonly PlaneFault[] {
  const faults = [...processFaults(choices.kills), stopFault(choices.stoppedSeconds)];
  const layout = layoutFault(choices.earlierCommit ?? EARLIER_COMMIT);
  if (planeProxy(proxy).hasForwarder)
    return [...faults, ...forwarderFaults(choices.forwarder), SWITCH_FAULT];
  if (planeProxy(proxy).hasPrograms)
    return [...faults, ...HOOK_FAULTS, MAP_FAULT, SWITCH_FAULT, layout];
  if (planeProxy(proxy).needsIpvs)
    return [...faults, ...IPVS_FAULTS, NETLINK_FAULT, SWITCH_FAULT, CLEANUP_FAULT];
  // The flows fault evicts the foreign flows that `cleanup` must leave, so it comes last.
  const others = [...TOUCH_FAULTS, ...clockFaults(), CLEANUP_FAULT, layout];
  return [...faults, ...others, NETLINK_FAULT, FLIPS_FAULT, FLOWS_FAULT];
}

/** Lets them happen to a node of a lab of their own. */
export async function runPlaneFaults(
  faults: readonly PlaneFault[],
  of: { proxy: string; progress: Progress; signal: AbortSignal },
): Promise<PlaneResult[]> {
  const { proxy, progress, signal } = of;
  await using lab = await startLab({ nodeCount: 1, load: LOAD, progress, signal });
  await using cluster = new Scene(lab);
  await cluster.prepare();
  await using scene = new PlaneScene(cluster, proxy);
  await progress.step('a node that serves', () => scene.prepare());
  const results: PlaneResult[] = [];
  for (const fault of faults) {
    const work = (): Promise<PlaneResult> => abortable(runPlaneFault(scene, fault), signal);
    const result = await progress.step(fault.name, work);
    // Others follow that take minutes.
    if (result.failure !== undefined) console.error(`    FAIL: ${result.failure}`);
    results.push(result);
  }
  return results;
}
