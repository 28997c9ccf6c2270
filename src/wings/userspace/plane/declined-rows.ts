import type { Family, Forwarding, ServicePortKey } from '../../../forwarding/model.ts';
import { servicePortKey } from '../../../forwarding/model.ts';
import { familyOf, namespaceOf, type WireFrontend } from './forwarder-protocol.ts';
import type { ForwarderReport } from './forwarder-report.ts';
import { wireRow } from './wire-rows.ts';

/** A row that is not handed over; without frontends: it is again. */
export interface KeptRow {
  readonly key: ServicePortKey;
  readonly family: Family;
  readonly frontends: readonly WireFrontend[];
}

/** Has nftables translate connections to these rows itself. */
export type WriteKept = (rows: readonly KeptRow[]) => Promise<void>;

interface Changed {
  readonly key: ServicePortKey;
  readonly after: Forwarding | undefined;
}

const MOST_NAMED = 3;

/** Rows for which the forwarder has no room. */
export class DeclinedRows {
  readonly #write: WriteKept;
  readonly #keys = new Set<ServicePortKey>();

  constructor(write: WriteKept) {
    this.#write = write;
  }

  /** After changes: of these rows, the forwarder declined some. */
  async changed(rows: readonly Changed[], declined: ReadonlySet<ServicePortKey>): Promise<void> {
    const kept: KeptRow[] = [];
    for (const { key, after } of rows) {
      if (!declined.has(key) && !this.#keys.has(key)) continue;
      const frontends = declined.has(key) ? (wireRow(after)?.frontends ?? []) : [];
      if (frontends.length > 0) this.#keys.add(key);
      else this.#keys.delete(key);
      kept.push({ key, family: familyOf(key), frontends });
    }
    if (kept.length > 0) await this.#write(kept);
  }

  /** After all rows were compared. */
  async inspected(
    rows: readonly Forwarding[],
    declined: ReadonlySet<ServicePortKey>,
  ): Promise<void> {
    if (declined.size + this.#keys.size === 0) return;
    const left = new Set(this.#keys);
    const all = rows.map((after): Changed => ({ key: servicePortKey(after.id), after }));
    for (const { key } of all) left.delete(key);
    await this.changed([...all, ...[...left].map((key) => ({ key, after: undefined }))], declined);
  }

  /** Undefined: there are none. Namespaces with the most of them first. */
  get report(): ForwarderReport['declined'] {
    if (this.#keys.size === 0) return undefined;
    const byNamespace = Map.groupBy(this.#keys, namespaceOf);
    const namespaces = [...byNamespace].map(([name, keys]) => ({ name, rowCount: keys.length }));
    namespaces.sort((a, b) => b.rowCount - a.rowCount || (a.name < b.name ? -1 : 1));
    return { rowCount: this.#keys.size, namespaces: namespaces.slice(0, MOST_NAMED) };
  }
}
