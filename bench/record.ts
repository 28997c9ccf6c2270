import type { LoadSize } from '../lab/load/objects.ts';
import type { Machine } from './machine.ts';

/** Version of the file format; packed-run.ts writes and reads it. */
export const RUN_FORMAT = 3;

/** Everything that a run has measured. */
export interface Run {
  readonly format: typeof RUN_FORMAT;
  readonly machine: Machine;
  readonly startedAt: string;
  /** In all, over every command that added to it. */
  tookSeconds: number;
  readonly planted?: string | undefined;
  readonly visits: Visit[];
  readonly limits: BareFigures[];
}

/** One proxy in one cluster, from its start to its end, in one round. */
export interface Visit {
  readonly size: LoadSize;
  readonly proxy: string;
  readonly round: number;
  readonly tookSeconds: number;
  /** Why there are no figures, or not all. */
  readonly ended?: string;
  readonly cold?: ColdFigures;
  readonly changes?: ChangeFigures;
  readonly receipt?: ReceiptFigures;
  readonly rolling?: LoadFigures;
  readonly bulk?: LoadFigures;
  readonly data?: readonly DataFigures[];
}

export interface Cost {
  /** CPU time of the process and of the programs it started. */
  readonly cpuSeconds: number;
  /** That the API server sent to the node, with all headers. */
  readonly apiBytes: number;
}

export interface Memory {
  readonly residentBytes: number;
  /** The most it ever was. */
  readonly peakBytes: number;
  /** What only this process has, and its share of the rest. */
  readonly proportionalBytes: number;
  /** Of no file: what the process itself has filled. Undefined in runs from before it was read. */
  readonly anonymousBytes?: number;
  /** Memory of the programs that it has started and that still run. */
  readonly programsBytes: number;
}

export interface ColdFigures extends Cost {
  /** From the start of the process to the first answer of the last Service. */
  readonly answeredMs: number;
  /** Until it reports itself that everything is in the kernel. */
  readonly programmedMs: number;
  readonly memory: Memory;
}

export interface ChangeFigures extends Cost {
  /** From the moment at which the write was sent to the first packet answered by the new endpoint. */
  readonly sinceSentMs: readonly number[];
  /** Of that, until the API server had answered the write. */
  readonly writtenMs: readonly number[];
  readonly stages: readonly StageFigures[];
  readonly memory: Memory;
}

/** The way of one change, from the write to the packet; the sum is the whole. */
export interface StageFigures {
  readonly apiMs: number;
  readonly resolveMs: number;
  readonly writeMs: number;
  readonly packetMs: number;
}

/** From its receipt to the acknowledgement of the kernel, as the proxy itself says. */
export interface ReceiptFigures {
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Many writes at once. */
export interface LoadFigures extends Cost {
  readonly writes: number;
  /** From the first write to the answer that shows that the last is in force. */
  readonly wholeMs: number;
  /** Of that, after the API server had taken the last write. */
  readonly afterLastWriteMs: number;
  readonly memory: Memory;
}

export const DATA_MODES = ['connect', 'first', 'request', 'throughput', 'datagram'] as const;
export type DataMode = (typeof DATA_MODES)[number];

/** One kind of load, to the pod and through the Service, in short alternating slices. */
export interface DataFigures {
  readonly mode: DataMode;
  readonly direct: AskedFigures;
  /** Through the Service; where there is no proxy, to the pod once more. */
  readonly beside: AskedFigures;
  /** For each pair of slices the rate of the second relative to the first; 0 without an answer. */
  readonly rateShares: readonly number[];
  /** The same of the CPU time for each that was answered, where any was. */
  readonly cpuShares: readonly number[];
  /** Pairs without an answer in the first; older files do not say. */
  readonly pairsLeftOut?: number;
}

/** Medians of the slices. */
export interface AskedFigures {
  readonly perSecond: number;
  readonly failed: number;
  /** Of client, server and the kernel's thread for packets; for each that was answered, or each byte. */
  readonly cpuMicroseconds: number;
  /** Single connections of all slices. */
  readonly p50Us?: number;
  readonly p99Us?: number;
}

/** The same kernel objects, written by a program that does nothing else. */
export interface BareFigures {
  readonly size: LoadSize;
  /** Whose objects. */
  readonly proxy: string;
  readonly by: 'netlink' | 'iptables-restore';
  /** Undefined: it was ended. */
  readonly milliseconds?: number;
  readonly cpuSeconds?: number;
  readonly bytes?: number;
  readonly ended?: string;
}
