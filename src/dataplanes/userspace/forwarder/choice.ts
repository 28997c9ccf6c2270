import type { ServedList } from './served-list.ts';
import type { SlotTable } from './slot-table.ts';

export interface ChoiceOptions {
  readonly slots: Pick<SlotTable, 'open' | 'avoidedUntil'>;
  readonly random: () => number;
  readonly nowMs: () => number;
}

/** Draws of an endpoint that can be used, before all of them are tried. */
const MOST_DRAWS = 8;
const MS_PER_TENTH = 100;

/**
 * Of two endpoints drawn at random the one with fewer open connections. One that is avoided only if
 * there is no other; one that failed for this connection never.
 */
export function chooseSlot(
  list: ServedList,
  not: readonly number[],
  { slots, random, nowMs }: ChoiceOptions,
): number | undefined {
  const nowTenths = Math.floor(nowMs() / MS_PER_TENTH);
  const isUsable = (slot: number): boolean =>
    !not.includes(slot) && slots.avoidedUntil(slot) <= nowTenths;
  const draw = (): number | undefined => {
    for (let count = 0; count < MOST_DRAWS; count++) {
      const slot = list.at(Math.floor(random() * list.size));
      if (slot !== undefined && isUsable(slot)) return slot;
    }
    return undefined;
  };
  const first = draw();
  if (first === undefined) return scanned(list, isUsable) ?? scanned(list, (s) => !not.includes(s));
  const second = draw() ?? first;
  return slots.open(second) < slots.open(first) ? second : first;
}

function scanned(list: ServedList, isUsable: (slot: number) => boolean): number | undefined {
  for (let position = 0; position < list.size; position++) {
    const slot = list.at(position);
    if (slot !== undefined && isUsable(slot)) return slot;
  }
  return undefined;
}
