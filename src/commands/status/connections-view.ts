import { wrapped } from '../terminal/fit.ts';
import { formatTextTable } from '../text-table.ts';
import type { Connection } from './connection.ts';
import { ageText, colour, countText, heads } from './words.ts';

export interface Connections {
  readonly connections: readonly Connection[];
  /** Total number, including those not shown. */
  readonly count: number;
  /** Connections without conntrack entries in this mode. */
  readonly unseen?: string;
}

const MS = 1000;
const INDENT = '  ';

/** Grouped by Service address. */
export function connectionsView(shown: Connections, width: number): string {
  const { connections, count, unseen } = shown;
  const groups = Map.groupBy(connections, ({ service, protocol, address }) => {
    return `${colour('bold', service)}  ${protocol} ${address}`;
  });
  const more = count - connections.length;
  return [
    `${countText(count, 'translated connection')} in conntrack`,
    ...[...groups].map(([head, group]) => `${head}\n${groupTable(group, width)}`),
    ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more: --all shows them`] : []),
    ...(unseen === undefined ? [] : [wrapped(unseen, width).join('\n')]),
  ].join('\n\n');
}

function groupTable(group: readonly Connection[], width: number): string {
  const hasAge = group.some(({ ageSeconds }) => ageSeconds !== undefined);
  const age = ({ ageSeconds }: Connection): string[] => {
    if (!hasAge) return [];
    return [ageSeconds === undefined ? '-' : ageText(ageSeconds * MS)];
  };
  const rest = (each: Connection): string[] => [
    each.state,
    ageText(each.expiresInSeconds * MS),
    ...age(each),
  ];
  const restHeads = ['STATE', 'EXPIRES IN', ...(hasAge ? ['AGE'] : [])];
  const rows = group.map((each) => [each.client, each.endpoint, ...rest(each)]);
  const table = formatTextTable([['CLIENT', 'ENDPOINT', ...restHeads], ...rows]);
  const isWide = table.split('\n').some((line) => line.length + INDENT.length > width);
  if (!isWide) return indented(withHead(table));
  // Two long addresses do not fit on a line: the endpoint goes below its client.
  const stacked = group.flatMap((each) => [[each.client, ...rest(each)], [`> ${each.endpoint}`]]);
  return indented(formatTextTable([heads('CLIENT > ENDPOINT', ...restHeads), ...stacked]));
}

function withHead(table: string): string {
  const [head = '', ...rows] = table.split('\n');
  return [colour('bold', head), ...rows].join('\n');
}

function indented(table: string): string {
  return table
    .split('\n')
    .map((line) => INDENT + line)
    .join('\n');
}
