import type { ScenarioResult } from '../../../conformance/runner/run-scenario.ts';

/** The answers of the corpus in one kernel, as `npm run conformance -- --json` writes them. */
export interface KernelAnswers {
  readonly kernel: string;
  readonly results: readonly ScenarioResult[];
}

/** One scenario of one proxy that two kernels answer differently. */
export interface KernelDifference {
  readonly scenario: string;
  readonly proxy: string;
  readonly answers: readonly [string, string];
  /** What the kernel that differs, or does not ask, says of it. */
  readonly reason: string;
}

export interface KernelComparison {
  readonly kernels: readonly [string, string];
  /** Scenarios that both were given, by proxy, and how many of them both answer alike. */
  readonly proxies: readonly { readonly proxy: string; readonly asked: number; same: number }[];
  readonly differences: readonly KernelDifference[];
}

/** A scenario that only one of the two was given is a difference too: nothing is left out. */
export function compareKernels(one: KernelAnswers, other: KernelAnswers): KernelComparison {
  const [first, second] = [one, other].map(({ results }) => byKey(results));
  const keys = [...new Set([...(first?.keys() ?? []), ...(second?.keys() ?? [])])];
  const differences: KernelDifference[] = [];
  const tally = new Map<string, { asked: number; same: number }>();
  for (const key of keys) {
    const pair = [first?.get(key), second?.get(key)] as const;
    const known = pair[0] ?? pair[1];
    if (known === undefined) continue;
    const { scenario, proxy } = known;
    const counts = tally.get(proxy) ?? { asked: 0, same: 0 };
    tally.set(proxy, counts);
    counts.asked++;
    if (isSame(...pair)) counts.same++;
    else {
      const answers = [wordOf(pair[0]), wordOf(pair[1])] as const;
      differences.push({ scenario, proxy, answers, reason: reasonOf(pair) });
    }
  }
  const proxies = [...tally].map(([proxy, counts]) => ({ proxy, ...counts }));
  return { kernels: [one.kernel, other.kernel], proxies, differences };
}

function byKey(results: readonly ScenarioResult[]): Map<string, ScenarioResult> {
  return new Map(results.map((result) => [`${result.proxy} ${result.scenario}`, result]));
}

/** Texts of failures hold addresses and times; those of known differences do not. */
function isSame(a: ScenarioResult | undefined, b: ScenarioResult | undefined): boolean {
  if (a?.result !== b?.result) return false;
  return a?.result === 'fail' || a?.reason === b?.reason;
}

function wordOf(result: ScenarioResult | undefined): string {
  return result?.result.replace('-', ' ') ?? 'not given';
}

function reasonOf(pair: readonly (ScenarioResult | undefined)[]): string {
  return pair.flatMap((result) => result?.reason || [])[0] ?? 'only one of the two was given it';
}

export function comparisonMarkdown({ kernels, proxies, differences }: KernelComparison): string {
  const counts = proxies.map(
    ({ proxy, asked, same }) => `| ${proxy} | ${asked} | ${same} | ${asked - same} |`,
  );
  const rows = differences.map(
    ({ scenario, proxy, answers, reason }) =>
      `| \`${scenario}\` | ${proxy} | ${answers.join(' | ')} | ${inCell(reason)} |`,
  );
  const counted = ['| proxy | scenarios | alike | different |', '|---|---|---|---|', ...counts];
  if (rows.length === 0) return counted.join('\n');
  const head = `| scenario | proxy | ${kernels.join(' | ')} | reason |`;
  return [...counted, '', head, '|---|---|---|---|---|', ...rows].join('\n');
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
