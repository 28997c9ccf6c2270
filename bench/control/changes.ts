import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../../lab/host/interruption.ts';
import type { ChangeFigures, StageFigures } from '../record.ts';
import type { LastService } from '../site/last-service.ts';
import { answeredByAtMs, type Waiting } from './asker.ts';
import { settledMetrics } from './metrics.ts';
import { stagesOf } from './stages.ts';

export interface ChangesOptions {
  readonly service: LastService;
  readonly waiting: Waiting;
  readonly count: number;
  /** Between two changes, so that each is one by itself. */
  readonly quietMs: number;
  /** After each of them the stages are read from the proxy, which costs it some time. */
  readonly isStaged: boolean;
  readonly onProgress: (done: number) => void;
}

export type Changed = Pick<ChangeFigures, 'sinceSentMs' | 'writtenMs' | 'stages'>;

/** Bounds from outside: a kernel that is busy with a huge transaction takes no signals. */
const CHANGE_DEADLINE_MS = 60_000;
const CHANGES_DEADLINE_MS = 120_000;

/** The slice of the last Service names another pod, again and again; until that pod answers. */
export async function measureChanges(options: ChangesOptions): Promise<Changed> {
  const { service, quietMs, isStaged } = options;
  const { signal, origin } = options.waiting;
  const waiting = { ...options.waiting, deadlineMs: CHANGE_DEADLINE_MS };
  const sinceSentMs: number[] = [];
  const writtenMs: number[] = [];
  const stages: StageFigures[] = [];
  const giveUpAtMs = performance.now() + CHANGES_DEADLINE_MS;
  for (let index = 0; index < options.count && performance.now() < giveUpAtMs; index++) {
    const before = isStaged ? await settledMetrics(origin.namespace, signal) : undefined;
    await abortable(pause(quietMs), signal);
    // Both clocks, because the proxy reports its times on the other.
    const sentAtMs = performance.now();
    const sentAtWallMs = Date.now();
    const { who, written } = service.turn();
    const answeredAtMs = await answeredByAtMs(who, waiting);
    sinceSentMs.push((answeredAtMs ?? Number.POSITIVE_INFINITY) - sentAtMs);
    writtenMs.push((await written) - sentAtMs);
    options.onProgress(index + 1);
    if (answeredAtMs === undefined) break;
    if (before === undefined) continue;
    const after = await settledMetrics(origin.namespace, signal);
    const answeredAtWallMs = sentAtWallMs + answeredAtMs - sentAtMs;
    const times = { sentAtMs: sentAtWallMs, answeredAtMs: answeredAtWallMs };
    stages.push(stagesOf({ ...times, before, after }));
  }
  return { sinceSentMs, writtenMs, stages };
}
