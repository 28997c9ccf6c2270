import type { Family, ServicePortId, ServicePortKey } from '../../forwarding/model.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { NodeFacts } from '../contract.ts';
import { TABLE_FAMILIES, TABLE_OF_FAMILY } from './chains.ts';
import type { SharedElement } from './elements.ts';
import { Numbers } from './numbers.ts';
import type { RowParts } from './row.ts';
import { byName, count, emptyState, type TableState } from './state.ts';

/**
 * What the plane knows of the kernel without asking it. Not what was applied: the agent gives that
 * with every change.
 */
export class Knowledge {
  /** What the fixed parts were made for; undefined: they were not looked at yet. */
  facts: NodeFacts | undefined;
  readonly numbers = new Numbers();
  /** What the kernel has of rows that an inspection did not find right. */
  readonly present = new Map<ServicePortKey, { family: Family; parts: RowParts }>();
  #states = newStates();

  state(family: TableFamily): TableState {
    return this.#states[family];
  }

  /** Numbers stay: they follow from names, and names mean the same afterwards. */
  forget(): void {
    this.facts = undefined;
    this.#states = newStates();
    this.present.clear();
  }

  /** Shared elements that the row is missing are no longer counted for it, the others are. */
  noteWrongRow(
    key: ServicePortKey,
    of: { id: ServicePortId; parts: RowParts; present: RowParts; wasCounted: boolean },
  ): void {
    const { id, parts, present, wasCounted } = of;
    this.present.set(key, { family: id.family, parts: present });
    const missing = parts.shared.filter((element) => !present.shared.includes(element));
    if (wasCounted) this.countShared(TABLE_OF_FAMILY[id.family], missing, -1);
    else this.countShared(TABLE_OF_FAMILY[id.family], present.shared, 1);
  }

  countShared(family: TableFamily, shared: readonly SharedElement[], by: number): void {
    const { wanted } = this.#states[family];
    for (const { set, key } of shared) count(wanted[set], key, by);
  }
}

function newStates(): Record<TableFamily, TableState> {
  return byName(TABLE_FAMILIES, emptyState);
}
