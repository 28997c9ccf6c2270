import type { SetElement, SetSpec } from '../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { type Class, classSetOf } from './classes.ts';
import { type Chain, TABLE_OF_FAMILY } from './nftables-chains.ts';
import { nodePortAddressKeys, uniqueClasses, wantedChains } from './nftables-fixed-parts.ts';
import { partsOf } from './nftables-row.ts';
import { CLASS_SETS, type SetName, setSpecs } from './nftables-sets.ts';
import { classElement } from './nftables-transaction.ts';
import { newRowNumbers } from './row-numbers.ts';
import { allElements } from './row-plan.ts';
import { rangeElements } from './source-ranges.ts';
import type { DesiredTables } from './table-facts.ts';

/** All contents of a table, as data: for the kernel, and for `render`. */
export interface TableContent {
  readonly family: TableFamily;
  readonly sets: readonly SetSpec[];
  readonly elements: ReadonlyMap<SetName, readonly SetElement[]>;
  /** In the order in which they are made where there was no table before. */
  readonly chains: readonly Chain[];
}

/** `keptClasses`: those that earlier rows have left; their chains stay until the table goes. */
export function tableContent(
  desired: DesiredTables,
  family: TableFamily,
  keptClasses: readonly Class[] = [],
): TableContent {
  // A number depends on which names came before, be they of the other family.
  const numbers = newRowNumbers();
  const lists = new Map<SetName, Map<string, SetElement>>();
  const put = (set: SetName, element: SetElement) => {
    const list = lists.get(set) ?? new Map<string, SetElement>();
    lists.set(set, list);
    // Several rows may use a shared one; the first has it.
    if (!list.has(element.key)) list.set(element.key, element);
  };
  const ofRows: Class[] = [];
  for (const row of desired.rows) {
    const parts = partsOf(row, numbers);
    if (TABLE_OF_FAMILY[row.id.family] !== family) continue;
    for (const element of allElements(parts, new Map())) put(element.set, element);
    for (const element of parts.shared) put(element.set, element);
    for (const element of parts.sources ? rangeElements(parts.sources) : []) {
      put(element.set, element);
    }
    ofRows.push(...parts.classes);
  }
  const classes = bySet(uniqueClasses([...keptClasses, ...ofRows]));
  for (const each of classes) put(classSetOf(each), classElement(each));
  for (const key of nodePortAddressKeys(desired.facts, family)) put('nodeport-ips', { key });
  return {
    family,
    sets: setSpecs(family, desired.facts),
    elements: new Map([...lists].map(([set, list]) => [set, [...list.values()]])),
    chains: wantedChains({ facts: desired.facts, classes }, family),
  };
}

function bySet(classes: readonly Class[]): Class[] {
  return CLASS_SETS.flatMap((set) => classes.filter((each) => classSetOf(each) === set));
}
