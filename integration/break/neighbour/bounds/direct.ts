import type { Connection } from '../../faults/plane/connections.ts';

/** A client gives up after five seconds: from here on a direct connection says that the machine stood still. */
const STANDSTILL_MS = 2_500;

export function tookMs({ begunMs, answeredMs }: Connection): number {
  return answeredMs - begunMs;
}

/** Failures that are the machine's, as a connection past the proxy had the same; and all others. */
export function apart(
  failures: readonly Connection[],
  direct: readonly Connection[],
): { readonly stalled: number; readonly failed: number } {
  const standstills = direct.filter(
    (each) => each.by === undefined || tookMs(each) > STANDSTILL_MS,
  );
  const isStalled = (failure: Connection): boolean =>
    standstills.some(
      ({ begunMs, answeredMs }) => begunMs < failure.answeredMs && failure.begunMs < answeredMs,
    );
  const stalled = failures.filter(isStalled).length;
  return { stalled, failed: failures.length - stalled };
}
