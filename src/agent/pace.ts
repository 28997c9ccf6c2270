import { servicePortName } from '../forwarding/model.ts';
import type { Outstanding } from './outstanding.ts';

/** A row that is too large for one transaction, while it is written. */
export interface PacedRow {
  /** `namespace/name:port`. */
  readonly name: string;
  /** Kernel objects of the parts that are written; both numbers are upper bounds. */
  readonly writtenCount: number;
  readonly objectCount: number;
}

export interface WaitingNamespace {
  readonly namespace: string;
  readonly rowCount: number;
  /** How long its first row has been queued. */
  readonly waitMs: number;
}

/** Rows that are written at their own pace, so that they do not delay others. */
export interface Pace {
  /** The first that were started, at most five; `rowCount` is the total. */
  readonly rows: readonly PacedRow[];
  readonly rowCount: number;
  /** Those that wait longest, at most five of the ones that wait for more than a second. */
  readonly namespaces: readonly WaitingNamespace[];
  readonly namespaceCount: number;
  /** For the namespace that waits longest, however short that is. */
  readonly longestWaitMs: number;
}

const MOST_NAMED = 5;
const LONG_WAIT_MS = 1000;

export function paceOf(
  outstanding: Outstanding,
  { nowMs, objectsPerStep }: { nowMs: number; objectsPerStep: number },
): Pace {
  const { inParts } = outstanding;
  const waits: WaitingNamespace[] = [];
  let longestWaitMs = 0;
  for (const [namespace, { rows }] of outstanding.lanes()) {
    const [first] = rows.values();
    const waitMs = first === undefined ? 0 : nowMs - first.queuedAtMs;
    longestWaitMs = Math.max(longestWaitMs, waitMs);
    if (waitMs > LONG_WAIT_MS) waits.push({ namespace, rowCount: rows.size, waitMs });
  }
  const rows = [...inParts.values().take(MOST_NAMED)].flatMap(({ id, parts }) => {
    if (parts === undefined) return [];
    const { writtenCount, objectCount } = parts;
    const written = Math.min(writtenCount * objectsPerStep, objectCount);
    return [{ name: servicePortName(id), writtenCount: written, objectCount }];
  });
  const longest = waits.sort((a, b) => b.waitMs - a.waitMs || (a.namespace < b.namespace ? -1 : 1));
  const namespaces = longest.slice(0, MOST_NAMED);
  const counts = { rowCount: inParts.size, namespaceCount: waits.length };
  return { rows, namespaces, longestWaitMs, ...counts };
}

/** `default/huge:http is written in parts: 12,000 of 150,000 objects`. */
export function describePace({ rows, rowCount, namespaces, namespaceCount }: Pace): string {
  const paced = rows.map(({ name, writtenCount, objectCount }) => {
    return `${name} is written in parts: ${count(writtenCount)} of ${count(objectCount)} objects`;
  });
  const waiting = namespaces.map(({ namespace, rowCount: waitingCount, waitMs }) => {
    const wait = `${(waitMs / 1000).toFixed(1)} s`;
    return `namespace ${namespace}: ${count(waitingCount)} rows have been waiting for ${wait}`;
  });
  const more = rowCount - rows.length + namespaceCount - namespaces.length;
  const all = [...paced, ...waiting, ...(more > 0 ? [`and ${count(more)} more`] : [])];
  return all.length === 0 ? 'no large Service is being written in parts' : all.join('; ');
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
