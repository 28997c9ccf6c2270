import { sectionMarkdown } from '../../../bench/report/section.ts';
import { count, fixed, megabytes, milliseconds } from '../../../bench/report/units.ts';
import { quantile } from '../../../lab/host/spread.ts';
import { formatTable } from '../../../lab/host/table.ts';
import type { AttackReport } from './hostile/process.ts';
import type { NeighbourResult } from './result.ts';
import { type Verdict, verdictsOf } from './verdicts.ts';
import type { VictimChange } from './victim/changes.ts';

const VERDICT_HEAD = ['what', 'bound', 'measured', 'kept'];
const ATTACK_HEAD = [
  'attack',
  'writes',
  'changes',
  'API p99',
  'proxy p50',
  'p99',
  'packet p99',
  'livez',
  'slab',
];

/** The answer first, then what it was made of. */
export function terminalReport(result: NeighbourResult): string {
  const verdicts = verdictsOf(result);
  return [
    answerOf(result, verdicts),
    formatTable([VERDICT_HEAD.map(upper), ...verdicts.map(verdictRow)]),
    ...notesOf(result),
    'By attack, times in ms, slab in MB; API: from the write until a bare watcher got the event',
    formatTable([ATTACK_HEAD.map(upper), ...attackRows(result)]),
    ...rejections(result),
  ].join('\n\n');
}

export function markdownReport(result: NeighbourResult): string {
  const verdicts = verdictsOf(result);
  const table = (head: readonly string[], rows: string[][]): string =>
    sectionMarkdown({ name: '', title: '', head, rows });
  return [
    answerOf(result, verdicts),
    table(VERDICT_HEAD, verdicts.map(verdictRow)),
    ...notesOf(result),
    'By attack; times in ms, slab in MB above the start:',
    table(ATTACK_HEAD, attackRows(result)),
  ].join('\n\n');
}

function answerOf(result: NeighbourResult, verdicts: readonly Verdict[]): string {
  const broken = verdicts.filter(({ isKept }) => !isKept).length;
  const how = `${result.proxy}, ${(result.seconds / 60).toFixed(1)} minutes, seed ${result.seed}${result.isGentle ? ', gentle' : ''}`;
  return broken === 0
    ? `The neighbour was not hurt: ${how}.`
    : `The neighbour WAS AFFECTED, ${broken} of ${verdicts.length} verdicts: ${how}.`;
}

/** What the API server takes itself is not the proxy's, and what is left in the kernel has a name. */
function notesOf({ calm, changes, aftermath }: NeighbourResult): string[] {
  const p99 = (of: (change: VictimChange) => number): string =>
    milliseconds(quantile(changes.map(of), 0.99));
  const before = milliseconds(
    quantile(
      calm.map(({ heldMs }) => heldMs),
      0.99,
    ),
  );
  const whole = `Write to packet p99: ${p99(({ wholeMs }) => wholeMs)}; the API server until a bare watcher
got the event: ${p99(({ toldMs }) => toldMs)}; the proxy's part before the storm: ${before}.`;
  const { grown } = aftermath;
  return grown === undefined || grown === '' ? [whole] : [whole, `Left in the kernel: ${grown}.`];
}

function verdictRow({ what, bound, figure, isKept }: Verdict): string[] {
  return [what, bound, figure, isKept ? 'yes' : 'NO'];
}

function attackRows(result: NeighbourResult): string[][] {
  const names = [...new Set(result.attacks.map(({ attack }) => attack))].sort();
  const rows = names.map((name) => {
    const times = result.attacks.filter(({ attack }) => attack === name);
    const isDuring = (atMs: number): boolean =>
      times.some(({ beganMs, endedMs }) => atMs >= beganMs && atMs < endedMs);
    const writes = times.reduce((sum, { accepted }) => sum + accepted, 0);
    const changes = result.changes.filter(({ sentAtMs }) => isDuring(sentAtMs));
    const probes = result.probes.filter(({ atMs }) => isDuring(atMs));
    const slab = result.memory.filter(({ atMs }) => isDuring(atMs));
    return [
      name,
      count(writes),
      ...changeCells(changes),
      ms(Math.max(0, ...probes.map(({ tookMs }) => tookMs))),
      megabytes(Math.max(0, ...slab.map(({ slabBytes }) => slabBytes))).replace(' MB', ''),
    ];
  });
  return [['(before)', '', ...changeCells(result.calm), '', ''], ...rows];
}

function changeCells(changes: readonly VictimChange[]): string[] {
  const of = (share: number, value: (change: VictimChange) => number): string =>
    changes.length === 0 ? '-' : ms(quantile(changes.map(value), share));
  return [
    String(changes.length),
    of(0.99, ({ toldMs }) => toldMs),
    of(0.5, ({ heldMs }) => heldMs),
    of(0.99, ({ heldMs }) => heldMs),
    of(0.99, ({ wholeMs }) => wholeMs),
  ];
}

function rejections({ attacks }: NeighbourResult): string[] {
  const found = attacks.find(({ firstRejection }) => firstRejection !== undefined);
  if (found === undefined) return [];
  const total = (of: (report: AttackReport) => number): number =>
    attacks.reduce((sum, report) => sum + of(report), 0);
  const counted = `${count(total(({ rejected }) => rejected))} writes were rejected, ${count(total(({ unanswered }) => unanswered))} unanswered`;
  return [`${counted}; the first, ${found.attack}: ${found.firstRejection?.slice(0, 120)}`];
}

function ms(value: number): string {
  return Number.isFinite(value) ? fixed(value) : 'never';
}

function upper(text: string): string {
  return text.toUpperCase();
}
