import type { StageFigures } from '../record.ts';
import type { SyncMetrics } from './metrics.ts';

export interface TimedChange {
  /** Milliseconds since 1970, as the proxy's own times. */
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  readonly before: SyncMetrics;
  readonly after: SyncMetrics;
}

/**
 * Where the time of one change went. kube-proxy reports the end of its sync, which may be after the
 * packet: then the packet counts. Fairlead reports exactly how long it had the change.
 */
export function stagesOf({ sentAtMs, answeredAtMs, before, after }: TimedChange): StageFigures {
  const receivedAtMs = within(after.queuedAtMs, sentAtMs, answeredAtMs);
  const heldMs =
    after.propagationSumMs === undefined || before.propagationSumMs === undefined
      ? after.syncedAtMs - receivedAtMs
      : after.propagationSumMs - before.propagationSumMs;
  const acknowledgedAtMs = within(receivedAtMs + heldMs, receivedAtMs, answeredAtMs);
  const syncMs = after.syncSumMs - before.syncSumMs;
  const inProxyMs = acknowledgedAtMs - receivedAtMs;
  const writeMs = within(syncMs - (receivedAtMs + heldMs - acknowledgedAtMs), 0, inProxyMs);
  return {
    apiMs: receivedAtMs - sentAtMs,
    resolveMs: inProxyMs - writeMs,
    writeMs,
    packetMs: answeredAtMs - acknowledgedAtMs,
  };
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
