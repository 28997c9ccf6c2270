import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ServicePortKey, servicePortKey } from '../../forwarding/model.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { inTurns } from '../../time/in-turns.ts';
import type { Inspection } from '../contract.ts';
import { Differences } from '../differences.ts';
import { type ElementView, emptyView, readView, SuspectView } from './element-view.ts';
import { preparedChains, TABLE_FAMILIES, TABLE_OF_FAMILY } from './nftables-chains.ts';
import { Comparison } from './nftables-comparison.ts';
import {
  addFixedParts,
  collectClasses,
  isBeyondRepair,
  isOfEarlierLayout,
  NO_FIXED_PARTS,
  readFixedParts,
  repairFixedParts,
  type StoredFixedParts,
  storedClasses,
} from './nftables-fixed-parts.ts';
import type { Knowledge } from './nftables-knowledge.ts';
import { TABLES } from './nftables-sets.ts';
import type { Suspects } from './nftables-suspects.ts';
import { addClass, byName, knownClasses } from './state.ts';
import type { DesiredTables } from './table-facts.ts';

/** Larger transactions block other writers of rules for too long. */
const MOST_OPERATIONS = 1000;

/** Compared in one event loop iteration: some milliseconds. */
const ENDPOINTS_AT_ONCE = 4096;
/** What a row without endpoints counts as. */
const ROW_SIZE = 8;

interface Kernel {
  readonly connection: NftConnection;
  readonly knowledge: Knowledge;
}

/** What was read from the kernel; fixed parts that were not read are assumed to be right. */
interface Found {
  readonly stored: Partial<Record<TableFamily, StoredFixedParts>>;
  readonly views: Record<TableFamily, ElementView>;
  /** Families in which the rules of an earlier version serve until every row is in ours. */
  readonly beside: readonly TableFamily[];
  /** Unused classes are removed. */
  readonly isCollecting: boolean;
}

/** Reads both tables completely and assumes nothing. */
export async function inspectEverything(
  kernel: Kernel,
  desired: DesiredTables,
  how: { readonly isFirst: boolean },
): Promise<Inspection> {
  const { connection, knowledge } = kernel;
  knowledge.forget();
  const stored = byName(TABLE_FAMILIES, () => NO_FIXED_PARTS);
  const views = byName(TABLE_FAMILIES, () => emptyView());
  const found: Record<TableFamily, StoredFixedParts> = { ...stored };
  for (const family of TABLE_FAMILIES) {
    found[family] = await readFixedParts(connection, family);
    if (isBeyondRepair(found[family], desired.facts, family)) await deleteTable(connection, family);
    else stored[family] = found[family];
    if (stored[family].structure.sets.length > 0) {
      views[family] = await readView(connection, family);
    }
  }
  const beside = TABLE_FAMILIES.filter(
    (family) =>
      knowledge.takeover.isUnderWay(family) || (how.isFirst && isOfEarlierLayout(stored[family])),
  );
  const isCollecting = !how.isFirst && beside.length === 0;
  return await setRight(kernel, desired, { stored, views, beside, isCollecting });
}

/** Assumes that everything is as desired that events did not report. The facts must be known. */
export async function inspectSuspects(
  kernel: Kernel,
  desired: DesiredTables,
  suspects: Suspects,
): Promise<Inspection> {
  const stored: Partial<Record<TableFamily, StoredFixedParts>> = {};
  const views = byName(TABLE_FAMILIES, (family) => new SuspectView(suspects, family));
  if (suspects.scope === 'structure') {
    for (const family of TABLE_FAMILIES) {
      const found = await readFixedParts(kernel.connection, family);
      if (isBeyondRepair(found, desired.facts, family)) {
        return await inspectEverything(kernel, desired, { isFirst: false });
      }
      stored[family] = found;
    }
  }
  return await setRight(kernel, desired, { stored, views, beside: [], isCollecting: false });
}

/** Compares every row, repairs the fixed parts, and removes what belongs to no row. */
async function setRight(
  { connection, knowledge }: Kernel,
  { facts, rows }: DesiredTables,
  { stored, views, beside, isCollecting }: Found,
): Promise<Inspection> {
  const differences = new Differences();
  const { numbers, orders } = knowledge;
  const isFirst = knowledge.facts === undefined;
  const comparisons = byName(TABLE_FAMILIES, (family) => {
    return new Comparison({ family, view: views[family], numbers, orders, differences });
  });
  const right = new Set<ServicePortKey>();
  const names = { rows: new Set<string>(), sources: new Set<string>() };
  let handled = 0;
  for (const row of rows) {
    const family = TABLE_OF_FAMILY[row.id.family];
    const compared = await inTurns(comparisons[family].compare(row), ENDPOINTS_AT_ONCE);
    handled += ROW_SIZE + row.clusterEndpoints.length + row.localEndpoints.length;
    if (handled > ENDPOINTS_AT_ONCE) {
      handled = 0;
      await nextTurn();
    }
    const key = servicePortKey(row.id);
    names.rows.add(key);
    if (compared.parts.sources) names.sources.add(compared.parts.sources.name);
    if (isFirst) knowledge.noteFirst(key, row.id, compared);
    else knowledge.noteChanged(key, row.id, compared);
    if (compared.present === undefined) right.add(key);
    else if (beside.includes(family)) knowledge.takeover.wait(family, key);
  }
  if (isFirst) knowledge.keepNumbers(names);
  const writtenBefore = connection.writtenCount;
  knowledge.facts ??= facts;
  for (const family of TABLE_FAMILIES) {
    const comparison = comparisons[family];
    const found = stored[family];
    const isBeside = beside.includes(family);
    const what = { comparison, family, differences, isBeside, isCollecting };
    if (found) await repair({ connection, knowledge }, { found, ...what });
    if (!isBeside) await sweep(connection, family, comparison);
  }
  return {
    right,
    differences: differences.described,
    differenceCount: differences.count,
    writeCount: connection.writtenCount - writtenBefore,
  };
}

async function repair(
  { connection, knowledge }: Kernel,
  inspected: {
    readonly family: TableFamily;
    readonly found: StoredFixedParts;
    readonly comparison: Comparison;
    readonly differences: Differences;
    readonly isBeside: boolean;
    readonly isCollecting: boolean;
  },
): Promise<void> {
  const { facts } = knowledge;
  if (!facts) throw new TypeError('the node settings are not known');
  const { family, found, comparison, differences } = inspected;
  const state = knowledge.state(family);
  const batch = connection.begin();
  const used = { facts, classes: comparison.classes };
  const stored = inspected.isCollecting
    ? collectClasses(batch, { family, stored: found, used })
    : found;
  for (const each of [...storedClasses(stored), ...comparison.classes]) addClass(state, each);
  for (const { name } of preparedChains(family)) state.chains.add(name);
  const wanted = { facts, classes: knownClasses(state) };
  if (inspected.isBeside) addFixedParts(batch, { family, stored, wanted });
  else repairFixedParts(batch, { family, stored, wanted, differences });
  await connection.commit(batch);
}

/** Removes what belongs to no row. */
async function sweep(
  connection: NftConnection,
  family: TableFamily,
  comparison: Comparison,
): Promise<void> {
  let batch = connection.begin();
  for (const leftover of comparison.leftovers()) {
    batch.deleteElement(TABLES[family], leftover.set, leftover);
    if (batch.operationCount < MOST_OPERATIONS) continue;
    await connection.commit(batch);
    batch = connection.begin();
  }
  await connection.commit(batch);
}

async function deleteTable(connection: NftConnection, family: TableFamily): Promise<void> {
  const batch = connection.begin();
  batch.deleteTable(TABLES[family]);
  await connection.commit(batch);
}
