import type { Forwarding, Frontend, Outcome } from '../../../../forwarding/model.ts';
import { CLASS_ORDER } from './layout.ts';
import type { Sequence } from './map-row.ts';

/** A row as its entries in the maps were made, or are to be made. */
export interface WrittenRow {
  readonly row: Forwarding;
  readonly served: readonly Frontend[];
  readonly sequence: Sequence;
}

/**
 * Finds the frontends whose entry is the same before and after a change that leaves the endpoints
 * in their slots. A Service may have thousands, so a frontend is found by its name.
 */
export class UnchangedFrontends {
  readonly #before: WrittenRow;
  readonly #isCommonSame: boolean;
  #byName: ReadonlyMap<string, Frontend> | undefined;

  constructor(before: WrittenRow, after: WrittenRow) {
    this.#before = before;
    this.#isCommonSame =
      before.row.affinitySeconds === after.row.affinitySeconds &&
      isSameLayout(before.sequence, after.sequence);
  }

  has(frontend: Frontend): boolean {
    if (!this.#isCommonSame) return false;
    this.#byName ??= new Map(this.#before.served.map((each) => [frontendName(each), each]));
    const before = this.#byName.get(frontendName(frontend));
    return before !== undefined && hasSameEntry(before, frontend);
  }
}

/** Within its row. */
export function frontendName({ address, port }: Frontend): string {
  return `${address} ${port}`;
}

/** The endpoints are the same already. */
function isSameLayout(a: Sequence, b: Sequence): boolean {
  return (
    a.isBeyond === b.isBeyond &&
    a.isTooLong === b.isTooLong &&
    a.lists.cluster.offset === b.lists.cluster.offset &&
    a.lists.cluster.count === b.lists.cluster.count &&
    a.lists.local.count === b.lists.local.count
  );
}

/** The rules behind check source ranges: the entry only records that there are some. */
function hasSameEntry(a: Frontend, b: Frontend): boolean {
  if (a === b) return true;
  return (
    (a.allowedSources === undefined) === (b.allowedSources === undefined) &&
    CLASS_ORDER.every((source) => isSameOutcome(a.outcomes[source], b.outcomes[source]))
  );
}

function isSameOutcome(a: Outcome, b: Outcome): boolean {
  if (a.action !== 'forward' || b.action !== 'forward') return a.action === b.action;
  return a.list === b.list && a.masquerade === b.masquerade;
}
