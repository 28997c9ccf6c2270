import type { NetemResult } from './run-netem.ts';
import type { WayCount } from './way.ts';

export function netemMarkdown(results: readonly NetemResult[]): string {
  const rows = results.flatMap(({ proxy, direct, through }) =>
    [direct, ...through].map(({ name, answered, failed, slowestMs }) => {
      const seconds = (slowestMs / 1000).toFixed(1);
      return `| ${proxy} | ${name} | ${answered} | ${failed} | ${seconds} s |`;
    }),
  );
  const head = '| proxy | connections to | answered | failed | slowest |';
  return [head, '|---|---|---|---|---|', ...rows].join('\n');
}

/** What is wrong: more failures through the proxy than on the way to the pods themselves. */
export function netemVerdict({ proxy, direct, through }: NetemResult): string[] {
  const unused = [direct, ...through].filter(({ answered }) => answered === 0);
  const worse = through.filter((count) => shareFailed(count) > shareFailed(direct));
  return [
    ...unused.map(({ name }) => `${proxy}: no connection to ${name} was answered`),
    ...worse.map(
      ({ name, failed, faults }) =>
        `${proxy}: ${failed} connections to ${name} failed, ${direct.failed} to the pods themselves: ${faults.join('; ')}`,
    ),
  ];
}

function shareFailed({ answered, failed }: WayCount): number {
  return failed / Math.max(1, answered + failed);
}
