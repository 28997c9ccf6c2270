import { setImmediate } from 'node:timers/promises';
import type { DescriptorSocket } from '../../../../linux/userspace/pass-descriptors.ts';
import { inGroups } from '../in-groups.ts';
import type { ThreadGroup } from './copying-threads.ts';
import type { Directory } from './forwarder-directory.ts';
import {
  ENTRIES_PER_PACKET,
  type HandedCounts,
  type HandoverAsk,
  type HandoverTell,
  PAIRS_PER_PACKET,
  TOTALS,
  type WireAffinity,
  type WirePair,
} from './handover-wire.ts';
import { noCounts, type SlotCounts } from './slot-table.ts';
import type { MovedPair } from './thread-messages.ts';

/** The new forwarder has the pairs meanwhile, and does not copy yet: long enough for one without a CPU. */
const STEP_MS = 3_000;

export interface GivingOptions {
  readonly directory: Directory;
  readonly threads: ThreadGroup;
  /** Of the shared clock. */
  readonly nowMs: () => number;
  /** Whether it accepts connections, and would go on so. */
  readonly accepts: boolean;
  readonly signal: AbortSignal;
}

/** What stays to be told when the last connections here have ended. */
export interface Given {
  readonly pairCount: number;
  finish(): Promise<void>;
}

/**
 * Gives everything that can move to the forwarder at the other end. Rejects if that did not take it;
 * this one then goes on as before.
 */
export async function giveAll(
  socket: DescriptorSocket,
  { directory, threads, nowMs, accepts, signal }: GivingOptions,
): Promise<Given> {
  const wait = { timeoutMs: STEP_MS, signal };
  const tell = (message: HandoverTell, fds: number[] = []): Promise<void> =>
    socket.send({ payload: Buffer.from(JSON.stringify(message)), fds }, wait);
  // Copying goes on meanwhile: there may be hundreds of thousands.
  const sinceMs = nowMs();
  await tellAffinity(affinities(directory, Number.NEGATIVE_INFINITY), tell);
  const counts = new CountsToHand(directory);
  let given: Awaited<ReturnType<ThreadGroup['givePairs']>> | undefined;
  try {
    await threads.setAccepting(false);
    given = await threads.givePairs();
    for (const group of inGroups(given.pairs, PAIRS_PER_PACKET)) {
      const fds = group.flatMap(({ clientFd, endpointFd }) => [clientFd, endpointFd]);
      await tell({ pairs: group.map((pair) => wirePair(pair, directory)) }, fds);
    }
    await tellAffinity(affinities(directory, sinceMs), tell);
    await tellCounts(counts.take(), tell);
    await tell({ end: true });
    const parcel = await socket.receive(wait);
    const answer = parcel && (JSON.parse(parcel.payload.toString()) as HandoverAsk);
    if (answer === undefined || !('taken' in answer)) throw new Error('pairs were not taken');
    await tell({ yours: true });
  } catch (error) {
    given?.settle(false);
    if (accepts) await threads.setAccepting(true);
    throw error;
  }
  given.settle(true);
  return {
    pairCount: given.pairs.length,
    finish: () => tellCounts(counts.take(), tell),
  };
}

async function tellCounts(
  { endpoints, ...totals }: HandedCounts,
  tell: (message: HandoverTell) => Promise<void>,
): Promise<void> {
  await tell({ counts: { endpoints: [], ...totals } });
  const none = { accepted: 0, failed: 0, unknownFrontend: 0 };
  for (const group of inGroups(endpoints, ENTRIES_PER_PACKET)) {
    await tell({ counts: { endpoints: group, ...none } });
  }
}

function wirePair(
  { clientFd, endpointFd, slot, ...rest }: MovedPair,
  { slots }: Directory,
): WirePair {
  return { ...rest, ...slots.identity(slot) };
}

async function tellAffinity(
  entries: Iterable<WireAffinity>,
  tell: (message: HandoverTell) => Promise<void>,
): Promise<void> {
  for (const group of inGroups(entries, ENTRIES_PER_PACKET)) {
    await tell({ affinity: group });
    await setImmediate();
  }
}

/** Those that were renewed since. */
function* affinities({ affinity, slots }: Directory, sinceMs: number): Generator<WireAffinity> {
  for (const { row, list, client, slot, renewedAtMs } of affinity.entries()) {
    if (renewedAtMs >= sinceMs) {
      yield [row.key, list, client, slots.identity(slot).endpoint, renewedAtMs];
    }
  }
}

/** Counts for the forwarder that follows: those until now, and later what was added since. */
class CountsToHand {
  readonly #directory: Directory;
  readonly #handed = new Map<string, SlotCounts>();
  readonly #handedTotals = { accepted: 0, failed: 0, unknownFrontend: 0 };

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  /** What was not handed before. Endpoints that are gone are one without a name. */
  take(): HandedCounts {
    const { slots } = this.#directory;
    const endpoints: HandedCounts['endpoints'][number][] = [];
    const hand = (row: string, endpoint: string, counts: Readonly<SlotCounts>): void => {
      const name = `${row} ${endpoint}`;
      const added = difference(counts, this.#handed.get(name) ?? noCounts());
      this.#handed.set(name, { ...counts });
      const isAdded = Object.values(added).some((count) => count !== 0);
      if (isAdded) endpoints.push({ row, endpoint, ...added, open: 0, avoidedMs: 0 });
    };
    hand('', '', slots.goneCounts);
    for (const slot of slots.slots()) {
      const { row, endpoint } = slots.identity(slot);
      if (row !== '') hand(row, endpoint, slots.counts(slot));
    }
    const totals = { accepted: 0, failed: 0, unknownFrontend: 0 };
    for (const name of TOTALS) {
      const count = slots.threadCount(name);
      totals[name] = count - this.#handedTotals[name];
      this.#handedTotals[name] = count;
    }
    return { endpoints, ...totals };
  }
}

function difference(counts: Readonly<SlotCounts>, before: SlotCounts): SlotCounts {
  const fields = Object.keys(counts) as (keyof SlotCounts)[];
  const result = noCounts();
  for (const field of fields) result[field] = counts[field] - before[field];
  return result;
}
