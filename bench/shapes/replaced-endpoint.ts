import { setTimeout as pause } from 'node:timers/promises';
import { LabError } from '../../lab/host/errors.ts';
import { abortable } from '../../lab/host/interruption.ts';
import { type KernelWatch, monotonicMs } from './kernel-watch.ts';
import { replacementAddress } from './objects.ts';

/** A Service one of whose endpoints can be replaced by another. */
export interface Replaceable {
  replace(address: string): Promise<void>;
  restore(): Promise<void>;
}

export interface ReplaceOptions {
  readonly service: Replaceable;
  readonly watch: KernelWatch;
  readonly count: number;
  /** Between two changes, so that each is one by itself. */
  readonly quietMs: number;
  readonly signal: AbortSignal;
  /** Why to end early; undefined: go on. */
  readonly isOver: () => boolean;
}

export interface ReplacedFigures {
  /** From the moment at which the write was sent until the kernel had the last rule of it. Infinity: never. */
  readonly sinceSentMs: readonly number[];
  readonly writtenMs: readonly number[];
}

/** A change is over after this time without a further rule: large ones come in several parts. */
const WHOLE_AFTER_MS = 300;
const CHANGE_DEADLINE_MS = 60_000;
const ALL_DEADLINE_MS = 90_000;

/** Replaces an endpoint by one that was never there, again and again. */
export async function replaceEndpoints(options: ReplaceOptions): Promise<ReplacedFigures> {
  const { service, watch, signal } = options;
  const sinceSentMs: number[] = [];
  const writtenMs: number[] = [];
  const giveUpAtMs = monotonicMs() + ALL_DEADLINE_MS;
  for (let index = 0; index < options.count && monotonicMs() < giveUpAtMs; index++) {
    if (options.isOver()) break;
    await abortable(pause(options.quietMs), signal);
    const address = replacementAddress(index);
    await watch.expect(address);
    const sentAtMs = monotonicMs();
    const written = service.replace(address).then(() => writtenMs.push(monotonicMs() - sentAtMs));
    const bounds = { quietMs: WHOLE_AFTER_MS, deadlineMs: CHANGE_DEADLINE_MS };
    const [sight] = await Promise.all([watch.sight(bounds), written]);
    if (sight.isOverrun) {
      throw new LabError('LAB_USAGE', 'netlink notifications of the kernel were lost', {
        next: 'enlarge the receive buffer in lab/parts/bench/watch.go',
      });
    }
    sinceSentMs.push(sight.count === 0 ? Number.POSITIVE_INFINITY : sight.lastMs - sentAtMs);
    if (sight.count === 0) break;
  }
  await service.restore();
  return { sinceSentMs, writtenMs };
}
