import { join } from 'node:path';
import type { RealProxy } from '../../lab/real/proxies/contract.ts';
import { type Judgement, judgeProxy } from '../judge.ts';
import { focusOf, type Sabotage } from './catalogue.ts';
import { plantedProxy } from './planted-proxy.ts';
import { judgeSabotage, type SabotageResult } from './verdict.ts';

export interface SabotageRun extends Omit<Judgement, 'focus'> {
  readonly sabotages: readonly Sabotage[];
  readonly onResult: (result: SabotageResult) => void;
}

/** Every spec without a fault, then each fault in a cluster of its own with the specs meant for it. */
export async function runSabotages(plan: SabotageRun): Promise<SabotageResult[]> {
  const { sabotages, onResult, ...judgement } = plan;
  const judge = (proxy: RealProxy, focus: string) =>
    judgeProxy({ ...judgement, proxy, focus, folder: join(plan.folder, proxy.name) });
  const healthy = await judge(plan.proxy, sabotages.map(focusOf).join('|'));
  const results: SabotageResult[] = [];
  for (const sabotage of sabotages) {
    const planted = await judge(plantedProxy(plan.proxy, sabotage), focusOf(sabotage));
    const result = judgeSabotage(sabotage, { healthy, planted });
    onResult(result);
    results.push(result);
  }
  return results;
}
