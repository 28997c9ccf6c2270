import { equalForwarding } from './equal.ts';
import {
  type Forwarding,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
} from './model.ts';

/** A changed service port: the row before and after. */
export interface Change {
  readonly key: ServicePortKey;
  readonly before: Forwarding | undefined;
  readonly after: Forwarding | undefined;
}

/** Changed and removed rows in the order of `old`, then new rows. */
export function changesBetween(old: readonly Forwarding[], rows: readonly Forwarding[]): Change[] {
  const changes: Change[] = [];
  const [inRows, inOld] = [new RowFinder(rows), new RowFinder(old)];
  old.forEach((before, index) => {
    const after = inRows.find(before.id, index);
    if (!equalForwarding(before, after)) changes.push(changeOf(before, after));
  });
  rows.forEach((after, index) => {
    if (!inOld.find(after.id, index)) changes.push(changeOf(undefined, after));
  });
  return changes;
}

function changeOf(before: Forwarding | undefined, after: Forwarding | undefined): Change {
  const { id } = (after ?? before) as Forwarding;
  return { key: servicePortKey(id), before, after };
}

/** Finds rows by port; nearly always at the same index. */
export class RowFinder {
  readonly #rows: readonly Forwarding[];
  /** Built when a port is at another index. */
  #byPort: Map<string, Forwarding> | undefined;

  constructor(rows: readonly Forwarding[]) {
    this.#rows = rows;
  }

  find(id: ServicePortId, likelyIndex: number): Forwarding | undefined {
    const likely = this.#rows[likelyIndex];
    if (likely && isSamePort(likely.id, id)) return likely;
    if (this.#rows.length === 0) return undefined;
    this.#byPort ??= new Map(this.#rows.map((row) => [portText(row.id), row]));
    return this.#byPort.get(portText(id));
  }
}

function isSamePort(a: ServicePortId, b: ServicePortId): boolean {
  return a.port === b.port && a.protocol === b.protocol && a.family === b.family;
}

function portText({ port, protocol, family }: ServicePortId): string {
  return `${family} ${protocol} ${port}`;
}
