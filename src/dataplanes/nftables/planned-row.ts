import type { Forwarding, ServicePortKey } from '../../forwarding/model.ts';
import { type InTurns, toEnd } from '../../forwarding/turns.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { RowChange } from '../contract.ts';
import { knownRow } from '../row-change.ts';
import { TABLE_OF_FAMILY } from './nftables-chains.ts';
import type { Knowledge } from './nftables-knowledge.ts';
import { partsOf } from './nftables-row.ts';
import { allElements, type Present, planChange, planRepair, type RowPlan } from './row-plan.ts';

/** A change of one row on its way into the kernel. */
export interface PlannedRow {
  readonly key: ServicePortKey;
  readonly family: TableFamily;
  readonly plan: RowPlan;
  /** What the kernel had of it, if that is not a row but what was found. */
  readonly found: Present | undefined;
  readonly before: Forwarding | undefined;
  readonly after: Forwarding | undefined;
}

/** Lists of source ranges count from here on. */
export function planRow(knowledge: Knowledge, change: RowChange): PlannedRow {
  return toEnd(planInTurns(knowledge, change));
}

/** The same, with pauses between endpoints. */
export function* planInTurns(knowledge: Knowledge, change: RowChange): InTurns<PlannedRow> {
  const { key, id, after } = change;
  const before = knownRow(change.before);
  // A note is newer than the row that is named: an inspection read it, which may then have failed.
  const found = knowledge.present.get(key);
  const family = TABLE_OF_FAMILY[id.family];
  const { numbers, orders } = knowledge;
  const circumstances = { numbers, orders, state: knowledge.state(family) };
  const plan = found
    ? yield* planRepair(found, after, { ...circumstances, key })
    : yield* planChange(before, after, circumstances);
  const { held, released } = plan.sources;
  if (held) knowledge.countSources(family, held, 1);
  if (released) knowledge.countSources(family, released, -1);
  return { key, family, plan, found, before, after };
}

/** The kernel has none of it. */
export function abandonRow(knowledge: Knowledge, { family, plan }: PlannedRow): void {
  const { held, released } = plan.sources;
  if (released) knowledge.countSources(family, released, 1);
  if (held) knowledge.countSources(family, held, -1);
}

/** The kernel has all of it. */
export function settleRow(knowledge: Knowledge, row: PlannedRow): void {
  const { numbers, orders, present } = knowledge;
  row.plan.settle(orders);
  present.delete(row.key);
  const { released } = row.plan.sources;
  const isUsed = released && knowledge.state(row.family).sourceLists.has(released.number);
  if (released && !isUsed) numbers.sources.release(released.name);
  if (row.after === undefined) numbers.rows.release(row.key);
}

/** What the kernel had of a row before its change was started. */
export function presentBefore(knowledge: Knowledge, row: PlannedRow): Present {
  if (row.found) return row.found;
  const parts = partsOf(row.before, knowledge.numbers);
  const sources = parts.sources === undefined ? {} : { sources: parts.sources };
  return { elements: allElements(parts, knowledge.orders), shared: parts.shared, ...sources };
}
