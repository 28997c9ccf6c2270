import { LabError } from '../../lab/host/errors.ts';
import type { Scenario } from '../scenario.ts';
import { type Choice, chooseDiffering, isOf } from './choose.ts';
import { OWN_PATHS } from './own-path.ts';

/** What `--differing` runs on a proxy. */
export function differingFor(
  proxy: string,
  corpus: readonly Scenario[],
  timesEach: number,
): Choice {
  const path = OWN_PATHS.find((candidate) => isOf(proxy, candidate.proxy));
  if (path) return chooseDiffering(corpus, path, timesEach);
  throw new LabError('LAB_USAGE', `no row says which code ${proxy} shares with other proxies`, {
    next: 'add one to conformance/differing/own-path.ts',
  });
}

/** How many of how many, and why. */
export function choiceLine(proxy: string, { chosen, total, combinations }: Choice): string {
  const known = chosen.filter(({ why }) => why === 'known difference').length;
  const others = `${chosen.length - known} more for all ${combinations} combinations on its own path`;
  return (
    `${proxy}: ${chosen.length} of ${total} scenarios: ${known} with a known difference` +
    (combinations === 0 ? '' : `, ${others}`)
  );
}

export function choicesMarkdown(choices: ReadonlyMap<string, Choice>): string {
  const rows = [...choices].map(([proxy, { chosen, total, combinations }]) => {
    const known = chosen.filter(({ why }) => why === 'known difference').length;
    return `| ${proxy} | ${chosen.length} of ${total} | ${known} | ${combinations} |`;
  });
  const head = '| proxy | scenarios | with a known difference | combinations |';
  return [head, '|---|---|---|---|', ...rows].join('\n');
}

/** One line a scenario, with the first of its reasons. */
export function choiceList({ chosen }: Choice): string {
  const lines = chosen.map(({ scenario, why }) => {
    if (why === 'known difference') return `${scenario.name}\n    ${why}`;
    const [first, ...others] = why;
    return `${scenario.name}\n    ${first}${others.length > 0 ? `, and ${others.length} more` : ''}`;
  });
  return lines.join('\n');
}
