/** A part of a rule in words: a condition for the rest, an action, or both. */
export interface Words {
  readonly when?: string;
  readonly does?: string;
}

/** Phrases that several modes share. */
export const SAID = {
  beginsConnection: 'it starts a connection',
  comesFromNode: 'it comes from this node itself',
  isForNode: 'it is for an address of this node',
  isMarked: 'it is marked for masquerading',
  marks: 'marks it for masquerading',
  clearsMark: 'clears the mark',
  masquerades: 'masquerades it: its source becomes an address of this node',
  rejectsByIcmp: 'rejects it with an ICMP error',
} as const;

/** `if` and the conditions, empty without any; and the actions, which each mode joins as it reads best. */
export function readWords(words: readonly Words[]): {
  readonly head: string;
  readonly actions: readonly string[];
} {
  const conditions = words.flatMap(({ when }) => when ?? []);
  const actions = words.flatMap(({ does }) => does ?? []);
  return { head: conditions.length === 0 ? '' : `if ${conditions.join(' and ')}: `, actions };
}
