import type { StatusPage } from '../../agent/status-page.ts';
import { bytesText, countText, heads, msText } from '../../commands/status/status-texts.ts';
import { formatWrappedTable } from '../../commands/text-table.ts';
import type { StatusWords, Trouble } from '../../modes/status-words.ts';
import type { ForwarderReport } from './plane/forwarder-report.ts';

const MANY = 0.8;
const US_PER_MS = 1000;

/** The page of an agent in mode userspace. */
export interface ForwarderPage extends StatusPage {
  readonly forwarder?: ForwarderReport;
}

export const USERSPACE_STATUS_WORDS: StatusWords = {
  lines: forwarderLine,
  troubles: forwarderTroubles,
  details: forwarderCounts,
  tellsOwnDrift: ({ forwarder }: ForwarderPage) => forwarder?.newConnectionsTo === 'kernel',
};

/** `forwarder: pid 4711, 2 threads, 312 of 32,256 connections`. */
function forwarderLine({ forwarder }: ForwarderPage): string[] {
  if (forwarder === undefined) return [];
  const { process, newConnectionsTo } = forwarder;
  if (process === undefined) {
    const to = newConnectionsTo === 'kernel' ? 'go to the kernel' : 'still go to it';
    return [`forwarder: no answer; new connections ${to}`];
  }
  const { pid, threadCount, mostConnections, totals } = process;
  const room = `${totals.open.toLocaleString('en-US')} of ${countText(mostConnections, 'connection')}`;
  const text = `forwarder: pid ${pid}, ${countText(threadCount, 'thread')}, ${room}`;
  return [newConnectionsTo === 'forwarder' ? text : `${text}; new ones go to the kernel`];
}

function forwarderTroubles({ forwarder }: ForwarderPage): Trouble[] {
  if (forwarder === undefined) return [];
  return [...declinedRows(forwarder), ...whereConnectionsGo(forwarder)];
}

/** A tenant at the bound: others keep their room. */
function declinedRows({ declined }: ForwarderReport): Trouble[] {
  if (declined === undefined) return [];
  const { rowCount, namespaces } = declined;
  const named = namespaces.map((each) => `${each.name} (${each.rowCount.toLocaleString('en-US')})`);
  return [
    {
      what: `the forwarder has no room for ${countText(rowCount, 'row')}: namespace ${named.join(', ')}`,
      next: 'the kernel forwards them, without retries; see docs/limits.md',
    },
  ];
}

function whereConnectionsGo(forwarder: ForwarderReport): Trouble[] {
  const { process, newConnectionsTo, why = 'reason unknown' } = forwarder;
  if (newConnectionsTo === 'kernel') {
    return [
      {
        what: `new TCP connections go to the kernel, not to the forwarder: ${why}`,
        next: 'none fails for it, but dead endpoints are not retried; if it persists, see the log',
      },
    ];
  }
  if (process === undefined) {
    return [
      {
        what: 'the forwarder does not answer: its connections are not counted',
        next: 'the agent replaces one that stays silent; if this persists, see the log',
      },
    ];
  }
  const { mostConnections: most, totals } = process;
  const { open } = totals;
  if (open === 0 || open < most * MANY) return [];
  const room = `${open.toLocaleString('en-US')} of ${countText(most, 'connection')}`;
  return [
    {
      what: `the forwarder is nearly full: ${room}`,
      next: 'the kernel translates the rest; raise the limit of open files (LimitNOFILE) for more',
    },
  ];
}

/** Empty while there is none. */
function forwarderCounts({ forwarder }: ForwarderPage, width: number): string {
  const totals = forwarder?.process?.totals;
  if (forwarder === undefined || totals === undefined) return '';
  const count = (value: number, what: string): string[] => [value.toLocaleString('en-US'), what];
  const { connections } = totals;
  const connectMs = connections === 0 ? 0 : totals.connectMicroseconds / connections / US_PER_MS;
  return formatWrappedTable(
    [
      heads('FORWARDER', 'OF WHAT'),
      count(totals.open, 'open connections'),
      count(connections, 'connections that an endpoint accepted'),
      [msText(connectMs), 'average time until the endpoint accepted'],
      [bytesText(totals.bytesToEndpoint), 'from clients to endpoints'],
      [bytesText(totals.bytesToClient), 'from endpoints to clients'],
      count(totals.refused, 'attempts that an endpoint refused'),
      count(totals.timedOut, 'attempts that timed out'),
      count(totals.avoidedEndpoints, 'endpoints avoided now, because they refused or timed out'),
      count(totals.failed, 'connections reset because no endpoint accepted'),
      count(totals.unknownFrontend, 'connections reset because their address was unknown'),
      count(forwarder.handedOver, 'open connections handed over to another forwarder'),
      ...(forwarder.translatedByKernel === undefined
        ? []
        : [count(forwarder.translatedByKernel, 'TCP connections that the kernel took instead')]),
    ],
    { width },
  );
}
