import type { Remark } from '../explanation.ts';
import type { ZeroCause } from './zero-cause.ts';

/** A cause, in a sentence, and what shows or repairs it. */
export interface ZeroReason {
  readonly cause: ZeroCause;
  readonly text: string;
  readonly next: readonly string[];
  /** What could not be read, and would tell more. */
  readonly notKnown?: string;
}

export function reasonRemarks({ text, notKnown }: ZeroReason): readonly Remark[] {
  return [
    { topic: 'because', text },
    ...(notKnown === undefined ? [] : [{ topic: 'not known', text: notKnown }]),
  ];
}
