import { readFile } from 'node:fs/promises';
import { sumOf } from '../explain/tally.ts';
import type { ScenarioResult } from '../runner/run-scenario.ts';

/** Results that earlier runs have written with `--json`; of a scenario that ran again, the last. */
export async function readResults(files: readonly string[]): Promise<readonly ScenarioResult[]> {
  const last = new Map<string, ScenarioResult>();
  for (const file of files) {
    for (const result of JSON.parse(await readFile(file, 'utf8')) as readonly ScenarioResult[]) {
      last.set(`${result.proxy} ${result.scenario}`, result);
    }
  }
  return [...last.values()];
}

/** What `fairlead explain` was asked beside the suite, for each proxy. */
export function provenMarkdown(results: readonly ScenarioResult[]): string {
  const rows = [...Map.groupBy(results, ({ proxy }) => proxy)].flatMap(([proxy, own]) => {
    const counts = own.flatMap(({ explained }) => (explained ? [explained] : []));
    if (counts.length === 0) return [];
    const { predicted, proven, provenFirst, notProven } = sumOf(counts);
    const failed = own.filter(({ result }) => result === 'fail').length;
    const reasons = Object.entries(notProven).map(([reason, count]) => `${count}: ${reason}`);
    const cells = [proxy, counts.length, failed, predicted, proven, provenFirst];
    return [`| ${[...cells, reasons.join('<br>') || '-'].join(' | ')} |`];
  });
  const heads =
    'proxy | scenarios | failed | predicted as the packets | proven | before the packets | not proven';
  return [`| ${heads} |`, '|---|---|---|---|---|---|---|', ...rows].join('\n');
}
