/** Draws of one that can be used, before the list is searched. */
const MOST_DRAWS = 8;

/** What the choice looks at; `random` returns a number from 0 to below 1. */
export interface ChoiceBy {
  readonly open: (slot: number) => number;
  readonly isAvoided: (slot: number, nowMs: number) => boolean;
  readonly random: () => number;
}

/** A list of slots. */
export interface Choices {
  readonly size: number;
  slotAt(index: number): number;
}

interface ChoiceOn {
  readonly tried: readonly number[] | undefined;
  readonly nowMs: number;
}

/**
 * Of two endpoints drawn at random the one with fewer open connections. Never one that was tried;
 * one that is avoided only if no other is left. Undefined: none is left.
 */
export function choose(by: ChoiceBy, list: Choices, on: ChoiceOn): number | undefined {
  const first = draw(by, list, on);
  // Few or none can be used: to search twice would cost twice as much, for no better choice.
  if (first === undefined) return searched(by, list, on);
  if (list.size === 1) return first;
  const second = draw(by, list, on);
  if (second === undefined || second === first) return first;
  return by.open(second) < by.open(first) ? second : first;
}

/** Each that can be used is as likely as the others, which a search would not give. */
function draw(by: ChoiceBy, list: Choices, on: ChoiceOn): number | undefined {
  if (list.size === 0) return undefined;
  for (let count = 0; count < MOST_DRAWS; count++) {
    const slot = list.slotAt(Math.floor(by.random() * list.size));
    if (on.tried?.includes(slot)) continue;
    if (!by.isAvoided(slot, on.nowMs)) return slot;
  }
  return undefined;
}

/** From a random place on, the first that is usable; else the first that is only avoided. */
function searched(by: ChoiceBy, list: Choices, on: ChoiceOn): number | undefined {
  const start = Math.floor(by.random() * list.size);
  let avoided: number | undefined;
  for (let step = 0; step < list.size; step++) {
    const slot = list.slotAt((start + step) % list.size);
    if (on.tried?.includes(slot)) continue;
    if (!by.isAvoided(slot, on.nowMs)) return slot;
    avoided ??= slot;
  }
  return avoided;
}
