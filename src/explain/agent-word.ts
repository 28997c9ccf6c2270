import type { RowState } from '../agent/row-state.ts';
import type { Prediction } from '../forwarding/answer/prediction.ts';
import type { JoinedCode } from './codes.ts';
import type { AgentWord } from './explanation.ts';
import type { ProvenPacket } from './proof/proof.ts';

/** The agent says that the kernel does not do what the rows say. */
export interface Objection {
  readonly code: Extract<JoinedCode, 'NOT_IN_KERNEL' | 'BEHIND'>;
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

/**
 * A packet met none of the rules of its row, and another process has changed them of late: the agent
 * writes them again, and may have done so before it was asked. `service`: the row; `subject`:
 * who asks.
 */
export function disturbedRow(
  agent: AgentWord | null,
  proven: {
    readonly prediction: Prediction;
    readonly packet: Pick<ProvenPacket, 'outcome'>;
    readonly service: string;
    readonly subject: string;
  },
): (Objection & { readonly next: readonly string[] }) | undefined {
  const { outcome } = proven.packet;
  const isMissed = outcome.is === 'passed' || ('by' in outcome && outcome.by.ours);
  if (agent?.disturber === undefined || !isMissed) return undefined;
  if (proven.prediction.action !== 'forward') return undefined;
  const sentence = `${proven.service} was not in the kernel when the packet of ${proven.subject} came: ${agent.disturber} has changed Fairlead's rules`;
  const next = [
    'fairlead history',
    'find what starts that program, and stop it from changing them',
  ];
  return { code: 'NOT_IN_KERNEL', sentence, next };
}

function secondsText({ forMs }: Exclude<RowState, { is: 'applied' }>): string {
  return forMs < 1000 ? `${forMs} ms` : `${Math.round(forMs / 1000)} s`;
}
