import type { RowState } from '../agent/row-state.ts';
import type { JoinedCode } from './codes.ts';
import type { AgentWord } from './explanation.ts';

/** The agent says that the kernel does not do what the rows say. */
export interface Objection {
  readonly code: Exclude<JoinedCode, 'NOT_SELECTED'>;
  readonly sentence: string;
}

/**
 * Whether the kernel does what was predicted, as the agent says; undefined: it does. `what`: the
 * row, as the subject of a sentence.
 */
export function objectionOf(word: AgentWord | null, what: string): Objection | undefined {
  if (word === null) return undefined;
  const { row, detached } = word;
  if (detached.length > 0) {
    const sentence = `packets do not reach the rules: ${detached.join(', ')} not in the kernel`;
    return { code: 'NOT_IN_KERNEL', sentence };
  }
  if (row === undefined || row.is === 'applied') return undefined;
  const has = `the kernel has ${row.kernelHas === 'unknown' ? 'a part of it or nothing' : row.kernelHas}`;
  if (row.is === 'waiting') {
    const sentence = `${what} has waited for ${secondsText(row)} to be written: ${has}`;
    return { code: 'BEHIND', sentence };
  }
  const sentence = `the kernel rejected ${what}: ${row.error.message}; ${has}`;
  return { code: 'NOT_IN_KERNEL', sentence };
}

function secondsText({ forMs }: Exclude<RowState, { is: 'applied' }>): string {
  return forMs < 1000 ? `${forMs} ms` : `${Math.round(forMs / 1000)} s`;
}
