import type { ProxyResults, SpecResult } from '../result.ts';
import { focusOf, type Sabotage } from './catalogue.ts';

export interface SabotageResult {
  readonly sabotage: string;
  readonly title: string;
  /** The specs that could notice it: how they end without the fault, and with it. */
  readonly specs: readonly { readonly name: string; readonly healthy: string; planted: string }[];
  readonly caught: boolean;
  /** Which specs failed, or why the sabotage proves nothing. */
  readonly reason: string;
  /** Duration of the cluster with the fault, until the last spec had ended. */
  readonly seconds: number;
}

/**
 * Caught, if a spec fails with the fault and all of them pass without: a spec that always fails
 * catches nothing.
 */
export function judgeSabotage(
  sabotage: Sabotage,
  runs: { readonly healthy: ProxyResults; readonly planted: ProxyResults },
): SabotageResult {
  const { planted } = runs;
  const wanted = new RegExp(focusOf(sabotage));
  const healthy = runs.healthy.specs.filter((spec) => wanted.test(spec.name));
  const notPassed = healthy.find((spec) => spec.state !== 'passed');
  const failed = planted.specs.filter((spec) => spec.state === 'failed');
  const specs = healthy.map((spec) => ({
    name: spec.name,
    healthy: spec.state,
    planted: planted.specs.find((other) => other.name === spec.name)?.state ?? 'not run',
  }));
  const { name, title } = sabotage;
  const seconds = planted.upSeconds + planted.runSeconds;
  const verdict = (caught: boolean, reason: string): SabotageResult => {
    return { sabotage: name, title, specs, caught, reason, seconds };
  };
  if (healthy.length === 0) return verdict(false, 'there is no such spec');
  if (notPassed) return verdict(false, `${notPassed.state} without sabotage too`);
  if (failed.length === 0) return verdict(false, 'all specs passed');
  return verdict(true, failed.map(saidFirst).join('; '));
}

function saidFirst(spec: SpecResult): string {
  return spec.message.trim().split('\n')[0] ?? '';
}
