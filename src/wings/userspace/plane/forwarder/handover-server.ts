import {
  DescriptorListener,
  type DescriptorSocket,
} from '../../../../linux/userspace/pass-descriptors.ts';
import { sleep } from '../../../../time/sleep.ts';
import type { HeldListener } from '../forwarder-protocol.ts';
import type { HandoverAsk, HandoverTell } from './handover-wire.ts';
import type { ForwarderLog } from './log.ts';

const ASK_MS = 5_000;
const UNTIL_ABORTED_MS = 2 ** 31 - 1;
/** After a connection that could not be accepted, as without a free descriptor. */
const PAUSE_MS = 1_000;

export interface HandoverServerOptions {
  readonly path: string;
  readonly listeners: readonly HeldListener[];
  /** Gives everything to the forwarder at the other end, and keeps the socket; rejects if it cannot. */
  readonly give: (socket: DescriptorSocket) => Promise<void>;
  readonly log: ForwarderLog;
  readonly signal: AbortSignal;
}

/** Listens before it returns; serves until the signal aborts. */
export function serveHandover(options: HandoverServerOptions): void {
  const { path, log, signal } = options;
  const listener = new DescriptorListener(path);
  const serve = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const socket = await listener.accept({ timeoutMs: UNTIL_ABORTED_MS, signal });
        serveOne(socket, options).catch((error: unknown) => {
          log.warn('handover failed', { error: String(error) });
        });
      } catch (error) {
        if (signal.aborted) return;
        // The next forwarder must be able to take over in spite of it.
        log.warn('handover connection not accepted', { error: String(error) });
        await sleep(PAUSE_MS, signal);
      }
    }
  };
  void serve().finally(() => listener[Symbol.dispose]());
}

async function serveOne(
  socket: DescriptorSocket,
  { listeners, give, signal }: HandoverServerOptions,
): Promise<void> {
  const wait = { timeoutMs: ASK_MS, signal };
  let isKept = false;
  try {
    const parcel = await socket.receive(wait);
    if (parcel === undefined) return;
    const message = JSON.parse(parcel.payload.toString()) as HandoverAsk;
    if (!('ask' in message)) throw new Error('not a question');
    if (message.ask === 'pairs') {
      await give(socket);
      isKept = true;
      return;
    }
    const described = listeners.map(({ source, isIPv6 }) => ({ source, isIPv6 }));
    const answer: HandoverTell = { listeners: described };
    const payload = Buffer.from(JSON.stringify(answer));
    await socket.send({ payload, fds: listeners.map(({ fd }) => fd) }, wait);
  } finally {
    if (!isKept) socket[Symbol.dispose]();
  }
}
