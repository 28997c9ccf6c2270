import { sectionMarkdown } from '../../../bench/report/section.ts';
import { median } from '../../../lab/host/spread.ts';
import { formatTable } from '../../../lab/host/table.ts';
import type { EchoResult, UnreadResult, Waits } from './tasks.ts';
import type { Way } from './ways.ts';

/** The same in each way, one way after the other, several times. */
export interface WayResult {
  readonly way: Way;
  readonly oneByOne: readonly Waits[];
  readonly atOnce: readonly Waits[];
}

export interface ShellResult {
  readonly machine: string;
  readonly ways: readonly WayResult[];
  /** From typing `fairlead shell -- true` to the next prompt. */
  readonly startSeconds: number;
  readonly rollout: Waits;
  readonly echo: EchoResult;
  readonly unread: UnreadResult;
}

/** Of issue and docs: what fails the command. */
const LIMITS = { failed: 0, unreadMs: 100 } as const;

/** What was asked for and is not so; none if all is. */
export function complaints({ ways, rollout, echo, unread }: ShellResult): string[] {
  const all = ways.flatMap(({ oneByOne, atOnce }) => [...oneByOne, ...atOnce]);
  const asked = [...all, rollout, unread.before, unread.beside];
  const failed = asked.reduce((sum, waits) => sum + waits.failed, 0);
  const reasons = asked.flatMap(({ failures }) => failures).join(', ');
  const longest = unread.beside.longestMs;
  return [
    ...(failed > LIMITS.failed ? [`${failed} connections failed: ${reasons}`] : []),
    ...(echo.isEqual ? [] : ['the bytes that came back differ']),
    ...(unread.isOpen ? [] : ['the unread connection was closed']),
    ...(longest > LIMITS.unreadMs
      ? [`${longest.toFixed(0)} ms beside an unread connection, above ${LIMITS.unreadMs} ms`]
      : []),
  ];
}

const WAYS_HEAD = ['way', '1 at once', 'median', 'p99', '16 at once', 'median', 'p99', 'failed'];

function wayRow({ way, oneByOne, atOnce }: WayResult): string[] {
  const of = (runs: readonly Waits[]): string[] => [
    `${middle(runs, 'perSecond').toFixed(0)}/s`,
    msText(middle(runs, 'medianMs')),
    msText(middle(runs, 'p99Ms')),
  ];
  const all = [...oneByOne, ...atOnce];
  const tried = all.reduce((sum, waits) => sum + waits.tried, 0);
  const failed = all.reduce((sum, waits) => sum + waits.failed, 0);
  const counted = (count: number): string => count.toLocaleString('en');
  return [way, ...of(oneByOne), ...of(atOnce), `${counted(failed)}/${counted(tried)}`];
}

function middle(runs: readonly Waits[], key: 'perSecond' | 'medianMs' | 'p99Ms'): number {
  return median(runs.map((waits) => waits[key]));
}

function msText(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

const MORE_HEAD = ['asked', 'found'];

function moreRows({ startSeconds, rollout, echo, unread }: ShellResult): string[][] {
  const { failed, tried, perSecond } = rollout;
  return [
    ['`fairlead shell -- true`', `${startSeconds.toFixed(1)} s, start and end`],
    [
      'a rollout of three pods at 200 connections/s',
      `${failed} of ${tried.toLocaleString('en')} failed, ${perSecond.toFixed(0)}/s answered, median ${msText(rollout.medianMs)}, p99 ${msText(rollout.p99Ms)}`,
    ],
    [
      '100 MB to an echo server and back',
      `checksums ${echo.isEqual ? 'equal' : 'DIFFER'}, ${echo.megabytesPerSecond.toFixed(0)} MB/s each way`,
    ],
    [
      'requests before a connection that is never read',
      `median ${msText(unread.before.medianMs)}, longest ${msText(unread.before.longestMs)}`,
    ],
    [
      'the same beside it',
      `median ${msText(unread.beside.medianMs)}, longest ${msText(unread.beside.longestMs)}`,
    ],
  ];
}

/** The answer first. */
export function resultText(result: ShellResult): string {
  const found = complaints(result);
  const answer = found.length === 0 ? 'every limit holds' : `NOT HELD: ${found.join('; ')}`;
  const rows = moreRows(result).map(([asked, text]) => `${asked}:\n  ${text}`);
  const ways = formatTable([WAYS_HEAD, ...result.ways.map(wayRow)]);
  return [answer, '', ways, '', ...rows].join('\n');
}

export function resultMarkdown(result: ShellResult): string {
  const section = { name: '', title: '' };
  const ways = { ...section, head: WAYS_HEAD, rows: result.ways.map(wayRow) };
  const more = { ...section, head: MORE_HEAD, rows: moreRows(result) };
  return `On ${result.machine}.\n\n${sectionMarkdown(ways)}\n\n${sectionMarkdown(more)}`;
}
