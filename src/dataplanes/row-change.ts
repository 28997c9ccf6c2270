import { equalForwarding } from '../forwarding/equal.ts';
import type { Forwarding } from '../forwarding/model.ts';
import type { Applied } from './contract.ts';

/** The row that the kernel is known to have; undefined: nothing, or unknown. */
export function knownRow(applied: Applied): Forwarding | undefined {
  return applied === 'absent' || applied === 'unknown' ? undefined : applied;
}

/** Whether the kernel is known to have exactly this; undefined: nothing of the row. */
export function isApplied(applied: Applied, row: Forwarding | undefined): boolean {
  return applied !== 'unknown' && equalForwarding(knownRow(applied), row);
}
