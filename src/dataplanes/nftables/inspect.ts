import { type ServicePortKey, servicePortKey } from '../../forwarding/model.ts';
import type { NftConnection } from '../../linux/nftables/connection.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { Desired, Inspection } from '../contract.ts';
import { Differences } from '../differences.ts';
import { preparedChains, TABLE_FAMILIES, TABLE_OF_FAMILY } from './chains.ts';
import { Comparison } from './comparison.ts';
import { type ElementView, emptyView, readView, SuspectView } from './element-view.ts';
import {
  isUnmendable,
  mendFixedParts,
  NO_FIXED_PARTS,
  readFixedParts,
  type StoredFixedParts,
  storedClasses,
} from './fixed-parts.ts';
import type { Knowledge } from './knowledge.ts';
import { TABLES } from './sets.ts';
import { addClass, byName, knownClasses } from './state.ts';
import type { Suspects } from './suspects.ts';

/** Larger transactions hold up the kernel, and whoever else wants to change rules, for too long. */
const MOST_OPERATIONS = 1000;

interface Kernel {
  readonly connection: NftConnection;
  readonly knowledge: Knowledge;
}

/** What was read of the kernel; of a table without fixed parts these are taken to be right. */
interface Found {
  readonly stored: Partial<Record<TableFamily, StoredFixedParts>>;
  readonly views: Record<TableFamily, ElementView>;
}

/** Reads both tables whole, and believes nothing. */
export async function inspectEverything(kernel: Kernel, desired: Desired): Promise<Inspection> {
  const { connection, knowledge } = kernel;
  knowledge.forget();
  const stored = byName(TABLE_FAMILIES, () => NO_FIXED_PARTS);
  const views = byName(TABLE_FAMILIES, () => emptyView());
  for (const family of TABLE_FAMILIES) {
    const found = await readFixedParts(connection, family);
    if (isUnmendable(found, desired.facts, family)) await deleteTable(connection, family);
    else stored[family] = found;
    if (stored[family].structure.sets.length > 0) {
      views[family] = await readView(connection, family);
    }
  }
  return await setRight(kernel, desired, { stored, views });
}

/** Believes everything to be as desired that others did not touch. The facts must be known. */
export async function inspectSuspects(
  kernel: Kernel,
  desired: Desired,
  suspects: Suspects,
): Promise<Inspection> {
  const stored: Partial<Record<TableFamily, StoredFixedParts>> = {};
  const views = byName(TABLE_FAMILIES, (family) => new SuspectView(suspects, family));
  if (suspects.scope === 'structure') {
    for (const family of TABLE_FAMILIES) {
      const found = await readFixedParts(kernel.connection, family);
      if (isUnmendable(found, desired.facts, family)) {
        return await inspectEverything(kernel, desired);
      }
      stored[family] = found;
    }
  }
  return await setRight(kernel, desired, { stored, views });
}

/** Compares every row, mends the fixed parts, and removes what belongs to no row. */
async function setRight(
  { connection, knowledge }: Kernel,
  { facts, rows }: Desired,
  { stored, views }: Found,
): Promise<Inspection> {
  const differences = new Differences();
  const { numbers } = knowledge;
  const isFirst = knowledge.facts === undefined;
  const comparisons = byName(TABLE_FAMILIES, (family) => {
    return new Comparison({ family, view: views[family], numbers, differences });
  });
  const right = new Set<ServicePortKey>();
  for (const row of rows) {
    const family = TABLE_OF_FAMILY[row.id.family];
    const { parts, present } = comparisons[family].compare(row);
    const key = servicePortKey(row.id);
    if (present) {
      knowledge.noteWrongRow(key, { id: row.id, parts, present, wasCounted: !isFirst });
      continue;
    }
    right.add(key);
    if (isFirst) knowledge.countShared(family, parts.shared, 1);
  }
  const writtenBefore = connection.writtenCount;
  knowledge.facts ??= facts;
  for (const family of TABLE_FAMILIES) {
    const comparison = comparisons[family];
    const found = stored[family];
    if (found) await mend({ connection, knowledge }, { found, comparison, family, differences });
    await sweep(connection, family, comparison);
  }
  return {
    right,
    differences: differences.described,
    differenceCount: differences.count,
    writeCount: connection.writtenCount - writtenBefore,
  };
}

async function mend(
  { connection, knowledge }: Kernel,
  of: {
    readonly family: TableFamily;
    readonly found: StoredFixedParts;
    readonly comparison: Comparison;
    readonly differences: Differences;
  },
): Promise<void> {
  const { facts } = knowledge;
  if (!facts) throw new TypeError('the facts of the node are not known');
  const { family, found: stored, comparison, differences } = of;
  const state = knowledge.state(family);
  for (const each of [...storedClasses(stored), ...comparison.classes]) addClass(state, each);
  for (const { name } of preparedChains()) state.chains.add(name);
  const batch = connection.begin();
  const wanted = { facts, classes: knownClasses(state) };
  mendFixedParts(batch, { family, stored, wanted, differences });
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
