import { closeDescriptor } from '../../../../linux/sockets/descriptors.ts';
import {
  connectDescriptors,
  type DescriptorSocket,
} from '../../../../linux/userspace/pass-descriptors.ts';
import type { ThreadGroup } from './copying-threads.ts';
import type { Directory } from './forwarder-directory.ts';
import {
  type HandedCounts,
  type HandoverAsk,
  type HandoverTell,
  TOTALS,
  type WireAffinity,
  type WirePair,
} from './handover-wire.ts';
import type { MovedPair } from './thread-messages.ts';

/** Longer than a step of the one that gives. */
const STEP_MS = 5_000;
/** The counts of its last connections come when it ends. */
const LATE_COUNTS_MS = 2 ** 31 - 1;

export interface TakingOptions {
  readonly directory: Directory;
  readonly threads: ThreadGroup;
  readonly signal: AbortSignal;
}

interface Received {
  readonly pairs: { readonly pair: WirePair; readonly fds: readonly [number, number] }[];
  affinityCount: number;
  readonly counts: HandedCounts[];
}

export interface Taken {
  readonly pairs: number;
  readonly affinities: number;
  /** Resolves when the other one has ended. */
  readonly rest: Promise<void>;
}

/** Takes pairs, clients and counts of the forwarder that listens at this path. */
export async function takeAll(path: string, options: TakingOptions): Promise<Taken> {
  const { directory, threads, signal } = options;
  const wait = { timeoutMs: STEP_MS, signal };
  const socket = await connectDescriptors(path, wait);
  const received: Received = { pairs: [], affinityCount: 0, counts: [] };
  const ask = (message: HandoverAsk): Promise<void> =>
    socket.send({ payload: Buffer.from(JSON.stringify(message)), fds: [] }, wait);
  try {
    await ask({ ask: 'pairs' });
    await receiveUntil('end', { socket, received, options });
    await ask({ taken: true });
    await receiveUntil('yours', { socket, received, options });
  } catch (error) {
    for (const { fds } of received.pairs) for (const fd of fds) closeDescriptor(fd);
    socket[Symbol.dispose]();
    throw error;
  }
  threads.takePairs(received.pairs.map(({ pair, fds }) => movedPair(pair, fds, directory)));
  for (const counts of received.counts) takeCounts(directory, counts);
  const rest = receiveRest(socket, directory, signal);
  return { pairs: received.pairs.length, affinities: received.affinityCount, rest };
}

interface Receiving {
  readonly socket: DescriptorSocket;
  readonly received: Received;
  readonly options: TakingOptions;
}

async function receiveUntil(
  last: 'end' | 'yours',
  { socket, received, options: { directory, signal } }: Receiving,
): Promise<void> {
  for (;;) {
    const parcel = await socket.receive({ timeoutMs: STEP_MS, signal });
    if (parcel === undefined) throw new Error('the other forwarder closed the connection');
    const message = JSON.parse(parcel.payload.toString()) as HandoverTell;
    if ('pairs' in message) {
      for (const [index, pair] of message.pairs.entries()) {
        const [client = -1, endpoint = -1] = parcel.fds.slice(2 * index, 2 * index + 2);
        received.pairs.push({ pair, fds: [client, endpoint] });
      }
    } else if ('affinity' in message) {
      // Before the pairs, and harmless without them.
      for (const entry of message.affinity)
        if (takeAffinity(entry, directory)) received.affinityCount++;
    } else if ('counts' in message) received.counts.push(message.counts);
    else if (last in message) return;
  }
}

async function receiveRest(
  socket: DescriptorSocket,
  directory: Directory,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      const parcel = await socket.receive({ timeoutMs: LATE_COUNTS_MS, signal });
      if (parcel === undefined) return;
      const message = JSON.parse(parcel.payload.toString()) as HandoverTell;
      if ('counts' in message) takeCounts(directory, message.counts);
    }
  } finally {
    socket[Symbol.dispose]();
  }
}

/** A pair whose endpoint has left its row has a slot until it ends. */
function movedPair(
  { row: key, endpoint, ...rest }: WirePair,
  [clientFd, endpointFd]: readonly [number, number],
  { rows, slots }: Directory,
): MovedPair {
  const known = rows.row(key)?.slots.get(endpoint);
  const slot = known ?? slots.takeLeaving({ row: key, endpoint });
  return { ...rest, clientFd, endpointFd, slot };
}

function takeAffinity(
  [key, list, client, endpoint, renewedAtMs]: WireAffinity,
  { rows, affinity }: Directory,
): boolean {
  const row = rows.row(key);
  const slot = row?.slots.get(endpoint);
  if (row === undefined || slot === undefined || row.affinitySeconds === 0) return false;
  if (!rows.hasEndpoint(row, list, endpoint)) return false;
  return affinity.remember({ row, list, client, slot, renewedAtMs });
}

/** Adds what the forwarder before this one counted. */
function takeCounts({ rows, slots }: Directory, counts: HandedCounts): void {
  for (const name of TOTALS) slots.addThreadCount(name, counts[name]);
  for (const { row: key, endpoint, ...count } of counts.endpoints) {
    const slot = rows.row(key)?.slots.get(endpoint);
    const { open: _, avoidedMs: __, ...sums } = count;
    if (slot === undefined) slots.addGone(sums);
    else slots.addCounts(slot, sums);
  }
}
