import {
  DescriptorListener,
  type DescriptorSocket,
} from '../../../../linux/userspace/pass-descriptors.ts';
import { sleep } from '../../../../time/sleep.ts';
import type { HandoverAsk, HandoverTell } from './handover-wire.ts';
import type { ForwarderLog } from './log.ts';
import type { ThreadStart } from './messages.ts';

const ASK_MS = 5_000;
const UNTIL_ABORTED_MS = 2 ** 31 - 1;
/** After a connection that could not be accepted, as without a free descriptor. */
const PAUSE_MS = 1_000;

export interface HandoverServerOptions {
  readonly path: string;
  readonly listeners: ThreadStart['listeners'];
  /** Gives everything to the forwarder at the other end, and closes the socket when it is done with it. */
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
      const socket = await acceptedBy(listener, options);
      if (socket === undefined) continue;
      serveOne(socket, options).catch((error: unknown) => {
        log.warn('handover failed', { error: String(error) });
      });
    }
  };
  serve()
    .catch((error: unknown) => {
      if (!signal.aborted) log.error('handover socket failed', { error: String(error) });
    })
    .finally(() => listener[Symbol.dispose]());
}

/** Undefined: not this time. The next forwarder must be able to take over in spite of it. */
async function acceptedBy(
  listener: DescriptorListener,
  { log, signal }: HandoverServerOptions,
): Promise<DescriptorSocket | undefined> {
  try {
    return await listener.accept({ timeoutMs: UNTIL_ABORTED_MS, signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    log.warn('handover connection not accepted', { error: String(error) });
    await sleep(PAUSE_MS, signal);
    return undefined;
  }
}

async function serveOne(
  socket: DescriptorSocket,
  { listeners, give, signal }: HandoverServerOptions,
): Promise<void> {
  const wait = { timeoutMs: ASK_MS, signal };
  let isGiving = false;
  try {
    const parcel = await socket.receive(wait);
    if (parcel === undefined) return;
    const message = JSON.parse(parcel.payload.toString()) as HandoverAsk;
    if (!('ask' in message)) throw new Error('not a question');
    if (message.ask === 'pairs') {
      isGiving = true;
      await give(socket);
      return;
    }
    const described = listeners.map(({ source, isIPv6 }) => ({ source, isIPv6 }));
    const answer: HandoverTell = { listeners: described };
    const payload = Buffer.from(JSON.stringify(answer));
    await socket.send({ payload, fds: listeners.map(({ fd }) => fd) }, wait);
  } finally {
    if (!isGiving) socket[Symbol.dispose]();
  }
}
