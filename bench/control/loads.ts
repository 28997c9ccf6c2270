import type { LoadFigures } from '../record.ts';
import type { Site } from '../site/site.ts';
import { answeredByAtMs, firstAnswerAtMs, type Waiting } from './asker.ts';

export type LoadTimes = Pick<LoadFigures, 'writes' | 'wholeMs' | 'afterLastWriteMs'>;

const NOT_IN_TIME = Number.POSITIVE_INFINITY;

/**
 * A thousand endpoints are replaced, and then the endpoint of the last Service. Slices reach a proxy
 * in the order of their writes: when that one is in force, all the others are.
 */
export async function rollEndpoints(site: Site, waiting: Waiting): Promise<LoadTimes> {
  const begunAtMs = performance.now();
  const writes = await site.rolling.roll(waiting.signal);
  const { who, written } = site.last.turn();
  const [answeredAtMs, writtenAtMs] = await Promise.all([answeredByAtMs(who, waiting), written]);
  const endedAtMs = answeredAtMs ?? NOT_IN_TIME;
  return {
    writes: writes + 1,
    wholeMs: endedAtMs - begunAtMs,
    afterLastWriteMs: Math.max(0, endedAtMs - writtenAtMs),
  };
}

/** Until a change that is written now is in force, and so all before it. */
export async function untilInForce(site: Site, waiting: Waiting): Promise<void> {
  const { who, written } = site.last.turn();
  await Promise.all([answeredByAtMs(who, waiting), written]);
}

/** A thousand Services come at once; the one that is written last answers. */
export async function createServices(site: Site, waiting: Waiting): Promise<LoadTimes> {
  const begunAtMs = performance.now();
  const to = site.bulk.last;
  const [writes, answeredAtMs] = await Promise.all([
    site.bulk.create().then((count) => ({ count, atMs: performance.now() })),
    firstAnswerAtMs({ ...waiting, to }),
  ]);
  const endedAtMs = answeredAtMs ?? NOT_IN_TIME;
  return {
    writes: writes.count,
    wholeMs: Math.max(endedAtMs, writes.atMs) - begunAtMs,
    afterLastWriteMs: Math.max(0, endedAtMs - writes.atMs),
  };
}
