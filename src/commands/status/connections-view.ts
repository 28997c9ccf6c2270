import { wrapped } from '../terminal/fit.ts';
import { formatTextTable } from '../text-table.ts';
import type { Connection, CopiedConnection } from './shown-connection.ts';
import { ageText, bytesText, colour, countText, heads } from './status-texts.ts';

export interface Connections {
  /** Those that the kernel translates. */
  readonly connections: readonly Connection[];
  /** Total number, including those not shown. */
  readonly count: number;
  /** Those that a forwarder copies, and their total number. Absent in modes without one. */
  readonly copied?: {
    readonly connections: readonly CopiedConnection[];
    readonly count: number;
    /** Why they could not be read. */
    readonly problem?: string;
  };
  /** Connections without conntrack entries in this mode. */
  readonly unseen?: string;
}

const MS = 1000;
const INDENT = '  ';

/** Grouped by Service address. */
export function connectionsView(shown: Connections, width: number): string {
  const { connections, count, copied, unseen } = shown;
  const more = count - connections.length + (copied ? copied.count - copied.connections.length : 0);
  return [
    headline(shown, width),
    ...groups(copied?.connections ?? [], (group) => copiedTable(group, width)),
    ...groups(connections, (group) => groupTable(group, width)),
    ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more: --all shows them`] : []),
    ...(unseen === undefined ? [] : [wrapped(unseen, width).join('\n')]),
  ].join('\n\n');
}

function headline({ count, copied }: Connections, width: number): string {
  if (copied === undefined) return `${countText(count, 'translated connection')} in conntrack`;
  if (copied.problem !== undefined) {
    const unknown = `connections of the forwarder are not listed: ${copied.problem}`;
    const byKernel = `${countText(count, 'connection')} translated by the kernel`;
    return [...wrapped(unknown, width), byKernel].join('\n');
  }
  const byForwarder = `${countText(copied.count, 'connection')} copied by the forwarder`;
  return `${byForwarder}, ${count.toLocaleString('en-US')} translated by the kernel`;
}

function groups<Each extends Connection | CopiedConnection>(
  connections: readonly Each[],
  table: (group: readonly Each[]) => string,
): string[] {
  const byAddress = Map.groupBy(connections, ({ service, protocol, address }) => {
    return `${colour('bold', service)}  ${protocol} ${address}`;
  });
  return [...byAddress].map(([head, group]) => `${head}\n${table(group)}`);
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
  if (fits(table, width)) return indented(withHead(table));
  // Two long addresses do not fit on a line: the endpoint goes below its client.
  const stacked = group.flatMap((each) => [[each.client, ...rest(each)], [`> ${each.endpoint}`]]);
  return indented(formatTextTable([heads('CLIENT > ENDPOINT', ...restHeads), ...stacked]));
}

/** The heading has the second of the four addresses: that of the Service. */
function copiedTable(group: readonly CopiedConnection[], width: number): string {
  const rest = (each: CopiedConnection): string[] => [
    each.state.replace('-', ' '),
    bytesText(each.bytesToEndpoint),
    bytesText(each.bytesToClient),
    ageText(each.ageSeconds * MS),
  ];
  const restHeads = ['STATE', 'SENT', 'RECEIVED', 'AGE'];
  const rows = group.map((each) => [each.client, each.source || '-', each.endpoint, ...rest(each)]);
  const table = formatTextTable([['CLIENT', 'FORWARDER', 'ENDPOINT', ...restHeads], ...rows]);
  if (fits(table, width)) return indented(withHead(table));
  const below = group.map((each) => lowerLines(each, width));
  const upper = formatTextTable([
    ['CLIENT', ...restHeads],
    ...group.map((each) => [each.client, ...rest(each)]),
  ]);
  const [head = '', ...clients] = fits(upper, width)
    ? upper.split('\n')
    : ['CLIENT', ...group.map((each) => `${each.client}\n${INDENT}${rest(each).join(', ')}`)];
  const heading = [head, `${INDENT}> FORWARDER > ENDPOINT`].map((line) => colour('bold', line));
  const lines = clients.flatMap((line, index) => [line, ...(below[index] ?? [])]);
  return indented([...heading, ...lines].join('\n'));
}

/** Two lines where the two addresses are too long for one. */
function lowerLines({ source, endpoint }: CopiedConnection, width: number): string[] {
  const both = `${INDENT}> ${source || '-'} > ${endpoint}`;
  if (both.length + INDENT.length <= width) return [both];
  return [`${INDENT}> ${source || '-'}`, `${INDENT}> ${endpoint}`];
}

function fits(table: string, width: number): boolean {
  return table.split('\n').every((line) => line.length + INDENT.length <= width);
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
