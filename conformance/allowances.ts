import type { Allowance } from '../lab/proxies/contract.ts';
import { PROXY_VARIANTS } from '../lab/proxies/registry.ts';
import { CORPUS } from './corpus.ts';
import type { Scenario } from './scenario.ts';

/** Where an answer that is not the first may count, for how long, and why. */
export interface GrantedTime extends Allowance {
  /** A proxy, or a scenario with the number of its step. */
  readonly where: string;
}

export function latenessOfProxies(): GrantedTime[] {
  return PROXY_VARIANTS.flatMap(({ name, lateness }) =>
    lateness === undefined ? [] : [{ where: name, ...lateness }],
  );
}

/** Each reason of a scenario once, with every step that gives it. */
export function settlingOfScenarios(scenarios: readonly Scenario[] = CORPUS): GrantedTime[] {
  return scenarios.flatMap(({ name, steps }) => {
    const granted = steps.flatMap((step, index) =>
      settlesOf(step).map((settles) => ({ settles, number: index + 1 })),
    );
    const byText = Map.groupBy(granted, ({ settles }) => JSON.stringify(settles));
    return [...byText.values()].flatMap((same) => {
      const [first] = same;
      const numbers = [...new Set(same.map(({ number }) => number))].join(', ');
      return first === undefined ? [] : [{ where: `${name}, step ${numbers}`, ...first.settles }];
    });
  });
}

function settlesOf(step: Scenario['steps'][number]): Allowance[] {
  const all = 'ask' in step ? step.ask : 'held' in step ? [step] : [];
  return all.flatMap(({ settles }) => (settles === undefined ? [] : [settles]));
}

export function allowancesMarkdown(): string {
  const all = [...latenessOfProxies(), ...settlingOfScenarios()];
  const byReason = Map.groupBy(all, ({ withinMs, reason }) => `${withinMs / 1_000} s | ${reason}`);
  const rows = [...byReason].map(([why, same]) => {
    const places = same.map(({ where }) => `\`${where}\``).join('<br>');
    return `| ${places} | ${why} |`;
  });
  return ['| where | within | why |', '|---|---|---|', ...rows].join('\n');
}
