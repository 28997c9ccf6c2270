import { setTimeout as pause } from 'node:timers/promises';
import { type Destination, dialTcp, type Origin } from '../../lab/host/sockets.ts';
import type { SourcePorts } from './source-ports.ts';

/** Interval of new connections while there is no answer yet. */
const TRY_EVERY_MS = 10;
const PATIENCE_MS = 250;
const QUESTION = 'GET /hostname HTTP/1.1\r\n\r\n';
const END_OF_HEAD = '\r\n\r\n';

export interface Waiting {
  readonly origin: Origin;
  readonly to: Destination;
  /** Source ports of the network namespace of the origin: shared by all its clients. */
  readonly ports: SourcePorts;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** The pod that answers a new connection; undefined: no answer in time. */
export async function whoAnswers({
  origin,
  to,
  ports,
}: Pick<Waiting, 'origin' | 'to' | 'ports'>): Promise<string | undefined> {
  const sourcePort = ports.take();
  const who = await answerFrom({ ...origin, sourcePort }, to);
  if (who === undefined) ports.failed(sourcePort);
  return who;
}

async function answerFrom(origin: Origin, to: Destination): Promise<string | undefined> {
  const socket = dialTcp(origin, to);
  try {
    return await new Promise<string | undefined>((resolve) => {
      const nobody = (): void => resolve(undefined);
      socket.setTimeout(PATIENCE_MS, nobody);
      // Refused, reset or unreachable: as long as the proxy is not ready all of it may happen.
      socket.once('error', nobody);
      socket.once('connect', () => socket.write(QUESTION));
      socket.once('data', (data) => resolve(data.toString().split(END_OF_HEAD)[1]));
    });
  } finally {
    // One that was closed in the ordinary way would keep its port for a minute; one that is still
    // connecting has no peer to reset, and Node would wait for it.
    if (socket.connecting || socket.destroyed) socket.destroy();
    else socket.resetAndDestroy();
  }
}

/** When the first connection is answered; undefined: not before the deadline, or `isHopeful` gave up. */
export async function firstAnswerAtMs(
  waiting: Waiting,
  isHopeful: () => boolean = () => true,
): Promise<number | undefined> {
  const { deadlineMs, signal } = waiting;
  const giveUpAtMs = performance.now() + deadlineMs;
  let answeredAtMs: number | undefined;
  // A connection that was dropped waits for a second: others are tried meanwhile.
  while (answeredAtMs === undefined && isHopeful() && performance.now() < giveUpAtMs) {
    signal.throwIfAborted();
    void whoAnswers(waiting).then((who) => {
      if (who !== undefined) answeredAtMs ??= performance.now();
    });
    await pause(TRY_EVERY_MS);
  }
  return answeredAtMs;
}

/** When a new connection is first answered by this one; undefined: not before the deadline. */
export async function answeredByAtMs(who: string, waiting: Waiting): Promise<number | undefined> {
  const { deadlineMs, signal } = waiting;
  const giveUpAtMs = performance.now() + deadlineMs;
  while (performance.now() < giveUpAtMs) {
    signal.throwIfAborted();
    const answering = await whoAnswers(waiting);
    if (answering === who) return performance.now();
    // Without a pause rejections would use up the ports.
    if (answering === undefined) await pause(TRY_EVERY_MS);
  }
  return undefined;
}
