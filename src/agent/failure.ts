import { PlaneError } from '../dataplanes/contract.ts';
import type { ServicePortKey } from '../forwarding/model.ts';

/** Something that went wrong, as data: for programs the code, for people the rest. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** What a person can do about it. */
  readonly next: string;
  /** On the monotonic clock; in a snapshot, milliseconds since 1970. */
  readonly atMs: number;
}

/** Whether the kernel may have a part of the row, although the call was rejected. */
export function isUnknownAfter(error: unknown, { key }: { readonly key: ServicePortKey }): boolean {
  return error instanceof PlaneError && error.unknown?.has(key) === true;
}

export function failureOf(error: unknown, atMs: number): Failure {
  const message = describe(error);
  if (error instanceof PlaneError) return { code: error.code, message, next: error.next, atMs };
  const next = 'report it as a bug of Fairlead, with the log';
  return { code: 'PLANE_UNEXPECTED', message, next, atMs };
}

/** What happened, and below it the chain of causes; a message that quotes its cause has it already. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === '' ? error.name : error.message;
  if (!(error.cause instanceof Error)) return own;
  const cause = describe(error.cause);
  return own.endsWith(cause) ? own : `${own}: ${cause}`;
}
