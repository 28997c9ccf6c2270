import type { Condition } from '../../agent/conditions.ts';
import type { Quantiles } from '../../agent/snapshot.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { serverText } from '../../cluster/server-report.ts';
import type { Drift } from '../../dataplanes/contract.ts';
import { attachmentWords } from '../../modes/attachment-words.ts';
import type { StatusWords } from '../../modes/status-words.ts';
import { formatTextTable, formatWrappedTable } from '../text-table.ts';
import { ageText, colour, countText, heads, msText } from './status-texts.ts';

/** All sections of `-v`, none wider than `width`. */
export function details(page: StatusPage, width: number, words?: StatusWords): readonly string[] {
  return [
    attachments(page, width),
    words?.details(page, width) ?? '',
    apiServer(page, width),
    conditions(page, width),
    propagation(page),
    counters(page, width),
    rejections(page, width),
    notServed(page, width),
    drifts(page, width),
  ].filter((section) => section !== '');
}

function attachments({ attachments: all = [] }: StatusPage, width: number): string {
  if (all.length === 0) return '';
  const rows = [...Map.groupBy(all, ({ place }) => place)].map(([place, each]) => {
    const attached = each.filter(({ isAttached }) => isAttached);
    const missing = each.filter(({ isAttached }) => !isAttached);
    const names = [
      ...attached.map(({ name }) => name),
      ...missing.map(({ name }) => `${name} MISSING`),
    ];
    return [attachmentWords(place).title, `${attached.length} of ${each.length}`, names.join(', ')];
  });
  return formatWrappedTable([heads('IN THE KERNEL', 'ATTACHED', 'WHICH'), ...rows], { width });
}

/** Missing features; empty if there are none. */
function apiServer({ apiServer: server }: StatusPage, width: number): string {
  if (server === undefined || server.gaps.length === 0) return '';
  const rows = server.gaps.map(({ feature, reason, effect }) => [feature, reason, effect]);
  const style = (text: string): string => colour('yellow', text);
  const table = [heads('MISSING', 'REASON', 'EFFECT'), ...rows];
  return `${serverText(server)}\n${formatWrappedTable(table, { width, style })}`;
}

function conditions({ conditions: all, atMs }: StatusPage, width: number): string {
  const { connected, timely, ...single } = all;
  const prefixed = (prefix: string, conditions: Readonly<Record<string, Condition>>) =>
    Object.entries(conditions).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  const named = [
    ...prefixed('connected', connected),
    ...prefixed('timely', timely),
    ...Object.entries(single),
  ];
  const rows = named.map(([name, { isTrue, sinceMs, why }]) => [
    name,
    isTrue ? colour('green', 'yes') : colour('red', 'no'),
    ageText(atMs - sinceMs),
    why,
  ]);
  return formatWrappedTable([heads('CONDITION', 'TRUE', 'FOR', 'REASON'), ...rows], { width });
}

function propagation({ propagation: summary }: StatusPage): string {
  const line = (name: string, { count, p50Ms, p90Ms, p99Ms, maxMs }: Quantiles): string[] => [
    name,
    String(count),
    ...[p50Ms, p90Ms, p99Ms, maxMs].map((ms) => (count === 0 ? '-' : msText(ms))),
  ];
  return formatTextTable([
    heads('LATENCY (LAST 1,000 CHANGES)', 'CHANGES', 'MEDIAN', 'P90', 'P99', 'MAX'),
    line('from receipt to kernel', summary.received),
    line('from trigger to kernel', summary.triggered),
  ]);
}

/** Counters with descriptions. */
function counters(page: StatusPage, width: number): string {
  const { rows, driftCount, failingRowCount, sources, affinityFill } = page;
  const skipped = sources.reduce((sum, { skippedCount }) => sum + skippedCount, 0);
  const count = (value: number, what: string): string[] => [value.toLocaleString('en-US'), what];
  return formatWrappedTable(
    [
      heads('COUNT', 'OF WHAT'),
      count(rows.desired, 'service ports that should be in the kernel'),
      count(rows.applied, 'of these, in the kernel as desired'),
      count(rows.pending, 'service ports waiting to be written or removed'),
      count(failingRowCount, 'service ports whose last write failed'),
      count(driftCount, 'changes by other processes since the start, repaired'),
      count(skipped, 'API objects ignored since the start because they could not be read'),
      ...(affinityFill === undefined
        ? []
        : [
            count(
              affinityFill.remembered,
              `session affinity entries, of at most ${affinityFill.room.toLocaleString('en-US')}`,
            ),
          ]),
    ],
    { width },
  );
}

function rejections({ failingRows, failingRowCount, atMs }: StatusPage, width: number): string {
  if (failingRowCount === 0) return '';
  const rows = failingRows.map(({ key, attempts, firstFailedAtMs, error }) => [
    key,
    String(attempts),
    ageText(atMs - firstFailedAtMs),
    error.message,
  ]);
  const style = (text: string): string => colour('red', text);
  const head = heads('NOT IN THE KERNEL', 'ATTEMPTS', 'FOR', 'REASON');
  return withMore(
    formatWrappedTable([head, ...rows], { width, style }),
    failingRowCount - rows.length,
  );
}

function notServed({ notServed: first, addresses }: StatusPage, width: number): string {
  if (first.length === 0) return '';
  const rows = first.map(({ service, address, why }) => [address, service, why]);
  const count = Object.values(addresses.notServed).reduce((sum, each) => sum + each, 0);
  const style = (text: string): string => colour('yellow', text);
  const table = formatWrappedTable([heads('NOT SERVED', 'SERVICE', 'REASON'), ...rows], {
    width,
    style,
  });
  return withMore(table, count - first.length);
}

function drifts({ drifts: last, driftCount, atMs }: StatusPage, width: number): string {
  if (driftCount === 0 && last.length === 0) return '';
  const rows = last.map(({ what, by, isOwn, atMs: whenMs }) => [
    `${ageText(atMs - whenMs)} ago`,
    byText(by, isOwn),
    what,
  ]);
  return formatWrappedTable([heads('DISTURBED', 'BY', 'WHAT'), ...rows], { width });
}

function byText(by: Drift['by'], isOwn: boolean | undefined): string {
  if (isOwn) return 'fairlead itself';
  return by ? `${by.program} (pid ${by.pid})` : 'unknown';
}

function withMore(table: string, more: number): string {
  return more > 0 ? `${table}\nand ${countText(more, 'more', 'more')}` : table;
}
