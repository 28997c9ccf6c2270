import type { Drift } from '../../../dataplanes/contract.ts';
import { pollingBy, pollSparingly } from '../../../dataplanes/shared/poll-pace.ts';
import type { CaptureTables } from './capture/capture-model.ts';
import type { PrintWatch } from './print-watch.ts';

/** Between two polls of destinations that drain. */
const DRAIN_PACE = { everyMs: 1000, atLeastEveryMs: 10_000 } as const;
/** IPVS has no events. The begin of its listing costs one read, and shows that all was deleted. */
const BEGIN_PACE = { everyMs: 1000, atLeastEveryMs: 2000 } as const;
/** Every change by another process is found within this time. */
const WHOLE_PACE = { everyMs: 2000, atLeastEveryMs: 30_000 } as const;

export interface Watched {
  readonly capture: CaptureTables;
  readonly deleteDrained: () => Promise<void>;
  readonly prints: PrintWatch;
}

/** A part that ends aborts the others, so that the caller learns of it and starts all again. */
export async function watchIpvs(
  { capture, deleteDrained, prints }: Watched,
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  const drain = async (): Promise<boolean> => {
    await deleteDrained();
    return true;
  };
  const one = new AbortController();
  const either = AbortSignal.any([signal, one.signal]);
  const parts = [
    capture.watch(onDrift, either),
    pollSparingly(pollingBy(DRAIN_PACE, drain), either),
    pollSparingly(
      pollingBy(BEGIN_PACE, () => prints.compareBegin()),
      either,
    ),
    pollSparingly(
      pollingBy(WHOLE_PACE, () => prints.compareWhole()),
      either,
    ),
  ].map((part) => part.finally(() => one.abort()));
  const ended = await Promise.allSettled(parts);
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
}
