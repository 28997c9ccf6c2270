import type { Failure } from './failure.ts';
import type { Entry } from './outstanding-entry.ts';

/** What the kernel has of a desired row, as far as the agent knows. */
export type RowState =
  | { readonly is: 'applied' }
  /** It is still to be written. */
  | { readonly is: 'waiting'; readonly forMs: number; readonly kernelHas: FormerState }
  /** The kernel rejected it; it is retried. */
  | {
      readonly is: 'rejected';
      readonly forMs: number;
      readonly kernelHas: FormerState;
      readonly attempts: number;
      readonly error: Pick<Failure, 'code' | 'message' | 'next'>;
    };

type FormerState = 'nothing' | 'an earlier state' | 'unknown';

/** `entry`: that of the row; undefined: the kernel has it as it is desired. */
export function rowStateOf(entry: Entry | undefined, nowMs: number): RowState {
  if (entry === undefined) return { is: 'applied' };
  const { failure, applied, sinceMs } = entry;
  const forMs = Math.round(nowMs - sinceMs);
  const kernelHas =
    applied === 'absent' ? 'nothing' : applied === 'unknown' ? 'unknown' : 'an earlier state';
  if (failure === undefined) return { is: 'waiting', forMs, kernelHas };
  const { code, message, next } = failure.last;
  const { attempts } = failure;
  return { is: 'rejected', forMs, kernelHas, attempts, error: { code, message, next } };
}
