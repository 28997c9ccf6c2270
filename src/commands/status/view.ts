import { styleText } from 'node:util';
import { type Condition, readyz } from '../../agent/conditions.ts';
import { conflictText } from '../../agent/node-port-conflicts.ts';
import { describePace } from '../../agent/pace.ts';
import type { AgentSnapshot, Quantiles } from '../../agent/snapshot.ts';
import { serverText } from '../../cluster/server-report.ts';
import type { EndpointCount } from '../../dataplanes/contract.ts';
import { clientsText, unservedText } from '../services/rows.ts';
import { formatTextTable } from '../text-table.ts';

type Colour = 'green' | 'red' | 'yellow' | 'bold' | 'dim';

const colour = (name: Colour, text: string): string =>
  styleText(name, text, { stream: process.stdout });

export function isWell({ conditions }: AgentSnapshot): boolean {
  return readyz(conditions).ok;
}

export function statusView(snapshot: AgentSnapshot): string {
  const sections = [
    [headline(snapshot), ...limits(snapshot)].join('\n'),
    missingTable(snapshot),
    conditionsTable(snapshot),
    propagationTable(snapshot),
    paced(snapshot),
    failing(snapshot),
    notServed(snapshot),
    conflicts(snapshot),
    drifts(snapshot),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

function headline(snapshot: AgentSnapshot): string {
  const { mode, node, rows, atMs, startedAtMs } = snapshot;
  const verdict = isWell(snapshot) ? colour('green', 'ready') : colour('red', 'not ready');
  const up = ageText(atMs - startedAtMs);
  const counts = `${rows.applied} of ${rows.desired} service ports in the kernel`;
  const waiting = rows.pending === 0 ? '' : `, ${rows.pending} waiting`;
  return `${colour('bold', `${node.nodeName}: ${mode}`)}, ${verdict}, up ${up}\n${counts}${waiting}`;
}

/** What a machine that is no node, or was told so, does not do; no line where it does everything. */
function limits({ node, clientInterfaces }: AgentSnapshot): string[] {
  return [clientsText(clientInterfaces), unservedText(node)].filter((text) => text !== '');
}

/** What the API server lacks; nothing where it has everything. */
function missingTable({ apiServer }: AgentSnapshot): string {
  if (apiServer === undefined || apiServer.gaps.length === 0) return '';
  const head = ['MISSING', 'BECAUSE', 'WITHOUT IT'].map((h) => colour('bold', h));
  const rows = apiServer.gaps.map(({ feature, reason, effect }) => [
    feature,
    reason,
    colour('yellow', effect),
  ]);
  return `${serverText(apiServer)}\n${formatTextTable([head, ...rows])}`;
}

function conditionsTable({ conditions, atMs }: AgentSnapshot): string {
  const { connected, timely, ...single } = conditions;
  const all: [string, Condition][] = [
    ...Object.entries(connected).map(([kind, value]): [string, Condition] => [
      `connected.${kind}`,
      value,
    ]),
    ...Object.entries(timely).map(([family, value]): [string, Condition] => [
      `timely.${family}`,
      value,
    ]),
    ...Object.entries(single),
  ];
  const rows = all.map(([name, { isTrue, sinceMs, why }]) => [
    name,
    isTrue ? colour('green', 'yes') : colour('red', 'no'),
    ageText(atMs - sinceMs),
    why,
  ]);
  return formatTextTable([
    ['CONDITION', 'HOLDS', 'FOR', 'WHY'].map((h) => colour('bold', h)),
    ...rows,
  ]);
}

function propagationTable({ propagation }: AgentSnapshot): string {
  const line = (name: string, of: Quantiles): string[] => [
    name,
    String(of.count),
    ...[of.p50Ms, of.p90Ms, of.p99Ms, of.maxMs].map((ms) => (of.count === 0 ? '-' : msText(ms))),
  ];
  return formatTextTable([
    ['LAST CHANGES', 'COUNT', 'P50', 'P90', 'P99', 'MOST'].map((h) => colour('bold', h)),
    line('received to kernel', propagation.received),
    line('triggered to kernel', propagation.triggered),
  ]);
}

function paced({ pace }: AgentSnapshot): string {
  if (pace.rowCount === 0 && pace.namespaceCount === 0) return '';
  return `${colour('bold', 'PACED')}  ${colour('yellow', describePace(pace))}`;
}

function failing({ failingRows, failingRowCount, atMs }: AgentSnapshot): string {
  if (failingRowCount === 0) return '';
  const rows = failingRows.map((row) => [
    row.key,
    String(row.attempts),
    ageText(atMs - row.firstFailedAtMs),
    colour('red', row.error.message),
  ]);
  const head = ['NOT IN THE KERNEL', 'TRIED', 'FOR', 'BECAUSE'].map((h) => colour('bold', h));
  const more = failingRowCount - failingRows.length;
  return `${formatTextTable([head, ...rows])}${more > 0 ? `\nand ${more} more` : ''}`;
}

function notServed({ notServed: first, addresses }: AgentSnapshot): string {
  if (first.length === 0) return '';
  const head = ['NOT SERVED', 'OF', 'BECAUSE'].map((h) => colour('bold', h));
  const rows = first.map(({ service, address, why }) => [address, service, colour('yellow', why)]);
  const count = Object.values(addresses.notServed).reduce((sum, each) => sum + each, 0);
  const more = count - first.length;
  return `${formatTextTable([head, ...rows])}${more > 0 ? `\nand ${more} more` : ''}`;
}

function conflicts({ addresses }: AgentSnapshot): string {
  if (addresses.conflicts.length === 0) return '';
  const lines = addresses.conflicts.map((each) => colour('yellow', conflictText(each)));
  const title = colour('bold', 'PROCESSES THAT LOSE CLIENTS TO A NODE PORT');
  return [title, ...lines].join('\n');
}

function drifts({ drifts: last, driftCount, atMs }: AgentSnapshot): string {
  if (driftCount === 0) return '';
  const rows = last.map(({ what, by, atMs: whenMs }) => [
    `${ageText(atMs - whenMs)} ago`,
    by ? `${by.program} (pid ${by.pid})` : 'unknown',
    what,
  ]);
  const head = ['TOUCHED BY OTHERS', 'BY', 'WHAT'].map((h) => colour('bold', h));
  return formatTextTable([head, ...rows]);
}

/** The busiest first. */
export function countersView(counts: readonly EndpointCount[]): string {
  const sorted = [...counts].sort((a, b) => b.connections - a.connections);
  const rows = sorted.map(({ service, endpoint, connections }) => [
    service,
    endpoint,
    String(connections),
  ]);
  const head = ['SERVICE', 'ENDPOINT', 'CONNECTIONS'].map((h) => colour('bold', h));
  return formatTextTable([head, ...rows]);
}

function msText(ms: number): string {
  return ms < 10 ? `${ms.toFixed(2)} ms` : `${Math.round(ms)} ms`;
}

/** `3 s`, `12 min`, `5 h`, `2 d`. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3600)} h`
    : `${Math.round(seconds / 86_400)} d`;
}
