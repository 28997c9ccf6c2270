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
  if (first === undefined) {
    const start = Math.floor(random() * list.size);
    const isLeft = (slot: number): boolean => !not.includes(slot);
    return searched(list, start, isUsable) ?? searched(list, start, isLeft);
  }
  const second = draw() ?? first;
  return slots.open(second) < slots.open(first) ? second : first;
}

/** From a random place on: clients would all be remembered at the first one otherwise. */
function searched(
  list: ServedList,
  start: number,
  isUsable: (slot: number) => boolean,
): number | undefined {
  for (let step = 0; step < list.size; step++) {
    const slot = list.at((start + step) % list.size);
    if (slot !== undefined && isUsable(slot)) return slot;
  }
  return undefined;
}
