import type { CopiedCount } from '../../modes/copied-connections.ts';
import { formatTextTable } from '../text-table.ts';
import { ageText, bytesText, heads, msText } from './status-texts.ts';

const WHAT = 'new connections to each endpoint since it was written to the kernel';
const FORWARDER =
  'ALL are those of forwarder and kernel together, the other figures of the\n' +
  'forwarder alone: OPEN now, bytes SENT to and RECEIVED from the endpoint, average\n' +
  'time until it accepted (CONNECT), FAILED attempts to connect to it';
const US_PER_MS = 1000;

/** The busiest first. */
export function countersView(counts: readonly CopiedCount[]): string {
  const sorted = [...counts].sort((a, b) => b.connections - a.connections);
  const hasStreams = sorted.some(({ streams }) => streams !== undefined);
  if (hasStreams) return `${WHAT}\n${FORWARDER}\n\n${streamsTable(sorted)}`;
  const rows = sorted.map(({ service, endpoint, connections }) => [
    number(connections),
    endpoint,
    service,
  ]);
  return `${WHAT}\n\n${formatTextTable([heads('CONNECTIONS', 'ENDPOINT', 'SERVICE'), ...rows])}`;
}

function streamsTable(counts: readonly CopiedCount[]): string {
  const rows = counts.map((count) => [number(count.connections), ...streamCells(count)]);
  const names = ['ALL', 'OPEN', 'SENT', 'RECEIVED', 'CONNECT', 'FAILED', 'ENDPOINT', 'SERVICE'];
  return formatTextTable([heads(...names), ...rows]);
}

/** Dashes for an endpoint of UDP or SCTP, whose connections only the kernel knows. */
function streamCells({ endpoint, service, streams }: CopiedCount): string[] {
  if (streams === undefined) return ['-', '-', '-', '-', '-', endpoint, service];
  const { open, bytesToEndpoint, bytesToClient, avoidedMs } = streams;
  const { connections, connectMicroseconds, refused, timedOut } = streams;
  const avoided = avoidedMs > 0 ? ` (avoided for ${ageText(roundedUp(avoidedMs))})` : '';
  return [
    number(open),
    bytesText(bytesToEndpoint),
    bytesText(bytesToClient),
    connections === 0 ? '-' : msText(connectMicroseconds / connections / US_PER_MS),
    number(refused + timedOut),
    `${endpoint}${avoided}`,
    service,
  ];
}

/** To whole seconds: one that is still avoided is not avoided for 0 s. */
function roundedUp(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
