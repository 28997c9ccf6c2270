import { setTimeout as pause } from 'node:timers/promises';
import type { Lab } from '../../lab/lab.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { answeredByAtMs, firstAnswerAtMs, type Waiting } from './asker.ts';
import type { LastService } from './last-service.ts';
import { cpuSecondsOf, type Memory, memoryOf } from './process-figures.ts';
import { type ProxyProcess, startOn } from './proxy-process.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** One proxy on a node of its own, and how it is asked. */
export interface Peer {
  readonly variant: ProxyVariant;
  readonly node: string;
  readonly changes: number;
  /** Between two changes, so that each is one by itself. */
  readonly quietMs: number;
}

export interface PeerFigures {
  readonly proxy: string;
  /** Undefined: it was ended because it had not answered in time. */
  readonly coldStartMs: number | undefined;
  readonly coldCpuSeconds: number;
  readonly memory: Memory;
  readonly changed: ChangedFigures | undefined;
}

interface ChangedFigures {
  /** From the moment at which the write was sent to the API server. */
  readonly sinceSent: Spread;
  /** Of that, until the API server had answered the write. */
  readonly written: Spread;
  readonly cpuSecondsPerChange: number;
  readonly memory: Memory;
}

/** Bounds from outside: a kernel that is busy with a huge transaction takes no signals. */
const COLD_DEADLINE_MS = 300_000;
const CHANGE_DEADLINE_MS = 60_000;
const CHANGES_DEADLINE_MS = 180_000;
/** So long after the first answer memory is read, of either: a start ends with work that nobody waits for. */
const SETTLE_MS = 3_000;

export async function measurePeer(
  lab: Lab,
  peer: Peer,
  of: { readonly service: LastService; readonly signal: AbortSignal },
): Promise<PeerFigures> {
  const { service, signal } = of;
  const origin = { namespace: lab.namespacePath(peer.node) };
  const waiting = { origin, to: service.to, deadlineMs: COLD_DEADLINE_MS, signal };
  const proxy = await startOn(lab, peer.node, peer.variant);
  const { pid } = proxy.daemon;
  try {
    const answeredAtMs = await firstAnswerAtMs(waiting);
    await pause(SETTLE_MS);
    const memory = await memoryOf(pid);
    const coldCpuSeconds = await cpuSecondsOf(pid);
    const coldStartMs = answeredAtMs === undefined ? undefined : answeredAtMs - proxy.startedAtMs;
    const changed =
      answeredAtMs === undefined
        ? undefined
        : await measureChanges(proxy, peer, { ...of, waiting });
    return { proxy: peer.variant.name, coldStartMs, coldCpuSeconds, memory, changed };
  } finally {
    await proxy.daemon.kill();
  }
}

async function measureChanges(
  { daemon }: ProxyProcess,
  peer: Peer,
  of: { readonly service: LastService; readonly waiting: Waiting },
): Promise<ChangedFigures> {
  const waiting = { ...of.waiting, deadlineMs: CHANGE_DEADLINE_MS };
  const sinceSentMs: number[] = [];
  const writtenMs: number[] = [];
  const giveUpAtMs = performance.now() + CHANGES_DEADLINE_MS;
  const cpuBefore = await cpuSecondsOf(daemon.pid);
  while (sinceSentMs.length < peer.changes && performance.now() < giveUpAtMs) {
    await pause(peer.quietMs);
    const sentAtMs = performance.now();
    const { who, written } = of.service.turn();
    const answeredAtMs = await answeredByAtMs(who, waiting);
    sinceSentMs.push((answeredAtMs ?? Number.POSITIVE_INFINITY) - sentAtMs);
    writtenMs.push((await written) - sentAtMs);
  }
  const cpuSeconds = (await cpuSecondsOf(daemon.pid)) - cpuBefore;
  return {
    sinceSent: spreadOf(sinceSentMs),
    written: spreadOf(writtenMs),
    cpuSecondsPerChange: cpuSeconds / sinceSentMs.length,
    memory: await memoryOf(daemon.pid),
  };
}
