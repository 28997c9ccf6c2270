import type { Colours } from '../../commands/terminal/colour.ts';
import { wrapped } from '../../commands/terminal/fit.ts';
import { visible } from '../../commands/terminal/visible.ts';
import type {
  ClientFigures,
  EndpointFigures,
  EndpointRow,
  ServiceFigures,
  SourceStates,
  Tick,
  Totals,
} from './traffic-figures.ts';

/** Cells of one line: figures to the right, names to the left, and the rest of the line last. */
interface Line {
  readonly figures: readonly string[];
  readonly name: string;
  readonly rest: string;
}

const GAP = '  ';
/** A name keeps so much of a narrow terminal before the last column goes. */
const LEAST_NAME = 24;
const MOST_NAME = 48;
const LEAST_REST = 12;

export interface ViewOptions {
  readonly width: number;
  readonly colours: Colours;
}

/** A tick as lines, none of them wider than the terminal. */
export function tickLines(tick: Tick, { width, colours }: ViewOptions): string[] {
  const head = [...wrapped(totalsText(tick.totals), width).map(colours.bold)];
  const about = wrapped(sourcesText(tick), width).map(colours.dim);
  const notes = tick.notes.flatMap((note) => wrapped(note, width)).map(colours.yellow);
  const table = tableOf(tick, width);
  const more = tick.more > 0 ? [`and ${tick.more.toLocaleString('en-US')} more`] : [];
  const [columns = '', ...rows] = table;
  return [...head, ...about, ...notes, '', colours.bold(columns), ...rows, ...more];
}

function totalsText(totals: Totals): string {
  const { newPerSecond, live, rejectedPerSecond, droppedPerSecond } = totals;
  const { busyServices, measuredServices, knownServices } = totals;
  const parts = [
    newPerSecond === undefined
      ? 'new connections not counted yet'
      : `${rate(newPerSecond)} new connections/s to ${services(busyServices)}`,
    ...(live === undefined ? [] : [`${count(live)} live`]),
    ...(rejectedPerSecond === undefined ? [] : [`${rate(rejectedPerSecond)} rejected/s`]),
    ...(droppedPerSecond === undefined ? [] : [`${rate(droppedPerSecond)} packets dropped/s`]),
  ];
  const of =
    measuredServices < knownServices
      ? ` (the ${count(measuredServices)} busiest of ${services(knownServices)})`
      : '';
  return parts.join(', ') + of;
}

function sourcesText({ mode, seconds, sources }: Tick): string {
  const { countersAgeSeconds, liveAgeSeconds, refusedAgeSeconds, shareSeconds } = sources;
  const ages = [
    ...age('counters', countersAgeSeconds),
    ...age('live', liveAgeSeconds),
    ...age('rejected', refusedAgeSeconds),
    `events ${EVENTS[sources.events]}`,
  ];
  return `mode ${mode}, over ${seconds.toFixed(1)} s, shares of the last ${shareSeconds} s; ${ages.join(', ')}`;
}

const EVENTS: Readonly<Record<SourceStates['events'], string>> = {
  complete: 'complete',
  sampled: 'sampled',
  none: 'missing',
};

function age(what: string, seconds: number | undefined): string[] {
  return seconds === undefined ? [] : [`${what} ${Math.round(seconds)} s old`];
}

function tableOf(tick: Tick, width: number): string[] {
  if (tick.by === 'client') return laidOut(CLIENT_HEAD, tick.rows.map(asClient), width);
  if (tick.by === 'endpoint') return laidOut(ENDPOINT_HEAD, tick.rows.map(asEndpoint), width);
  return laidOut(SERVICE_HEAD, tick.rows.map(asService), width);
}

const SERVICE_HEAD: Line = {
  figures: ['NEW/S', 'LIVE', 'REJ/S', 'DROP/S'],
  name: 'SERVICE',
  rest: 'ENDPOINTS',
};
const ENDPOINT_HEAD: Line = {
  figures: ['NEW/S', 'SHARE', 'LIVE'],
  name: 'ENDPOINT',
  rest: 'SERVICE',
};
const CLIENT_HEAD: Line = {
  figures: ['NEW/S', 'LIVE', 'FROM'],
  name: 'CLIENT',
  rest: 'MOST TO',
};

function asService(row: Tick['rows'][number]): Line {
  const service = row as ServiceFigures;
  const { newPerSecond, live, rejectedPerSecond, droppedPerSecond } = service;
  return {
    figures: [rate(newPerSecond), count(live), rate(rejectedPerSecond), rate(droppedPerSecond)],
    name: serviceText(service),
    rest: rangesText(service) + endpointsText(service.endpoints),
  };
}

function asEndpoint(row: Tick['rows'][number]): Line {
  const endpoint = row as EndpointRow;
  return {
    figures: [rate(endpoint.newPerSecond), shareText(endpoint.share), count(endpoint.live)],
    name: endpoint.endpoint,
    rest: serviceText(endpoint),
  };
}

function asClient(row: Tick['rows'][number]): Line {
  const client = row as ClientFigures;
  const more = client.serviceCount > 1 ? ` and ${client.serviceCount - 1} more` : '';
  return {
    figures: [rate(client.newPerSecond), count(client.live), client.class ?? '-'],
    name: client.client,
    rest: `${client.service}${more}`,
  };
}

/** TCP over IPv4 goes without saying. */
function serviceText({
  service,
  protocol,
  family,
}: Pick<ServiceFigures, 'service' | 'protocol' | 'family'>): string {
  const suffixes = [
    ...(protocol === 'TCP' ? [] : [protocol]),
    ...(family === 'IPv4' ? [] : [family]),
  ];
  return [service, ...suffixes].join(' ');
}

function rangesText({ outsideRangesPerSecond = 0 }: ServiceFigures): string {
  if (outsideRangesPerSecond === 0) return '';
  return `${rate(outsideRangesPerSecond)} dropped/s by source ranges; `;
}

/** The ones with the largest shares: a line has room for a few. */
function endpointsText(endpoints: readonly EndpointFigures[]): string {
  if (endpoints.length === 0) return 'none';
  const parts = endpoints
    .toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0))
    .slice(0, MOST_ENDPOINTS_SHOWN)
    .map(({ endpoint, share }) => `${shareText(share)} ${endpoint}`);
  return `${endpoints.length}: ${parts.join(', ')}`;
}

const MOST_ENDPOINTS_SHOWN = 8;

/** One line for each row; what does not fit is cut, and without room for it the last column goes. */
function laidOut(head: Line, rows: readonly Line[], width: number): string[] {
  const lines = [head, ...rows.map(visibleLine)];
  const figureWidths = head.figures.map((_, column) =>
    Math.max(...lines.map(({ figures }) => (figures[column] ?? '').length)),
  );
  const left = figureWidths.reduce((sum, each) => sum + each + GAP.length, 0);
  const natural = Math.max(...lines.map(({ name }) => name.length));
  const nameWidth = Math.max(
    1,
    Math.min(
      natural,
      Math.max(LEAST_NAME, Math.min(MOST_NAME, width - left - LEAST_REST - GAP.length)),
      width - left,
    ),
  );
  const restWidth = width - left - nameWidth - GAP.length;
  return lines.map(({ figures, name, rest }) => {
    const numbers = figures.map((text, column) => text.padStart(figureWidths[column] ?? 0));
    const cells = [...numbers, cut(name, nameWidth).padEnd(nameWidth)];
    if (restWidth >= LEAST_REST) cells.push(cut(rest, restWidth));
    return cut(cells.join(GAP), width).trimEnd();
  });
}

/** Names are text of others: what acts on a terminal is written as an escape. */
function visibleLine({ figures, name, rest }: Line): Line {
  return { figures: figures.map(visible), name: visible(name), rest: visible(rest) };
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  return width < 1 ? '' : `${text.slice(0, width - 1)}…`;
}

function services(number: number): string {
  return `${count(number)} ${number === 1 ? 'service port' : 'service ports'}`;
}

/** `-`: unknown. */
function count(number: number | undefined): string {
  return number === undefined ? '-' : number.toLocaleString('en-US');
}

function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return '-';
  if (perSecond === 0) return '0';
  return perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en-US');
}

function shareText(share: number | undefined): string {
  return share === undefined ? '-' : `${Math.round(share * 100)} %`;
}
