import { formatTable } from '../../../../lab/host/table.ts';
import type { BoundResult, BoundsResult, CommandAnswer } from './answer.ts';
import { TESTED } from './tested.ts';
import { faultsOf } from './verdict.ts';

const HEAD = ['BOUND', 'LIMIT', 'FILLED', 'NEW', 'OPEN', 'HEALTH', 'STATUS', 'DIFF', 'KEPT'];

/** The answer first, then what it was made of. */
export function boundsReport(result: BoundsResult): string {
  const faults = result.bounds.flatMap((each) =>
    faultsOf(each).map((fault) => `${each.name}: ${fault}`),
  );
  return [
    answerOf(result),
    formatTable([HEAD, ...result.bounds.map(row)]),
    ...(faults.length === 0 ? [] : [faults.join('\n')]),
    'New: connections made/failed; open: those of before that still answer.\n' +
      'Health, status, diff: seconds until the answer, the slowest of health.\n' +
      'Bounds that a test of their own fills:',
    formatTable(TESTED.map(({ name, limit, test }) => [name, limit, test])),
  ].join('\n\n');
}

function answerOf({ proxy, seconds, bounds }: BoundsResult): string {
  const hurt = bounds.filter((each) => faultsOf(each).length > 0).length;
  const how = `${proxy}, ${seconds.toFixed(0)} s`;
  return hurt === 0
    ? `No neighbour was hurt at ${bounds.length} ${bounds.length === 1 ? 'bound' : 'bounds'}: ${how}.`
    : `A neighbour WAS HURT at ${hurt} of ${bounds.length} bounds: ${how}.`;
}

function row(result: BoundResult): string[] {
  const { name, limit, filledTo, victim } = result;
  const verdict = faultsOf(result).length === 0 ? 'yes' : 'NO';
  if (victim === undefined) return [name, limit, filledTo, '-', '-', '-', '-', '-', verdict];
  return [
    name,
    limit,
    filledTo,
    `${victim.made}/${victim.failed}`,
    victim.lost === 0 ? `${victim.open}` : `${victim.open - victim.lost}/${victim.open}`,
    victim.healthBad > 0 ? `${victim.healthBad} bad` : duration(victim.slowestHealthMs),
    command(victim.status),
    command(victim.diff),
    verdict,
  ];
}

function command({ tookMs, exitCode }: CommandAnswer): string {
  return exitCode === undefined ? 'none' : duration(tookMs);
}

function duration(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
