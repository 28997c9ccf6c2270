import { sleep } from '../../time/sleep.ts';
import type { BoundSocket } from './bound-socket.ts';
import { tcpListeners } from './tcp-listeners.ts';
import { udpSockets } from './udp-sockets.ts';

/** Poll interval: the kernel has no events for bound sockets. */
const POLL_EVERY_MS = 1000;
/** At most a hundredth of the time is spent on listing. */
const REST_PER_WORK = 100;
/** The shortest of so many counts: one alone may have waited for a busy processor. */
const TIMED_LISTS = 3;

export interface HostSocketOptions {
  readonly pollEveryMs?: number;
  readonly list?: () => Promise<readonly BoundSocket[]>;
  /** Listing failed: the last result stays. */
  readonly onProblem: (error: unknown) => void;
}

/**
 * Reports the ports that processes of this network namespace hold, sorted, and the full list again
 * when it changes. A new UDP socket counts from the second time it is seen: resolvers open one for
 * each query.
 */
export async function watchHostSockets(
  onChange: (sockets: readonly BoundSocket[]) => void,
  signal: AbortSignal,
  options: HostSocketOptions,
): Promise<void> {
  const { pollEveryMs = POLL_EVERY_MS, list = listHostSockets, onProblem } = options;
  let told: string | undefined;
  let before: ReadonlySet<string> | undefined;
  let worksMs: readonly number[] = [];
  while (!signal.aborted) {
    let found: readonly BoundSocket[] | undefined;
    const startedAtMs = performance.now();
    try {
      found = await list();
    } catch (error) {
      onProblem(error);
    }
    worksMs = [...worksMs, performance.now() - startedAtMs].slice(-TIMED_LISTS);
    const sockets = found ?? (told === undefined ? [] : undefined);
    if (signal.aborted) return;
    if (sockets !== undefined) {
      const seen = before;
      const lasting = sockets.filter((each) => isLasting(each, seen));
      const text = JSON.stringify(lasting);
      if (text !== told) onChange(lasting);
      told = text;
      before = new Set(sockets.map(keyOf));
    }
    const workMs = worksMs.length < TIMED_LISTS ? 0 : Math.min(...worksMs);
    await sleep(Math.max(pollEveryMs, workMs * REST_PER_WORK), signal);
  }
}

export async function listHostSockets(): Promise<BoundSocket[]> {
  const sockets = [...(await tcpListeners()), ...(await udpSockets())];
  return sockets
    .map((socket) => ({ socket, key: keyOf(socket) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ socket }) => socket);
}

function isLasting(socket: BoundSocket, before: ReadonlySet<string> | undefined): boolean {
  return socket.protocol === 'TCP' || before === undefined || before.has(keyOf(socket));
}

function keyOf({ family, protocol, address, port, inode }: BoundSocket): string {
  return [family, protocol, address, String(port).padStart(5, '0'), inode].join(' ');
}
