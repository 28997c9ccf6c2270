import { median } from '../../lab/host/spread.ts';
import { type AskedFigures, DATA_MODES, type DataFigures, type DataMode } from '../record.ts';
import type { DataPods } from '../site/data-pods.ts';
import { forgetConnections } from '../site/wipe.ts';
import { type Asked, type AskedSide, ask, type Slice } from './ask.ts';

interface Load {
  readonly pairs: number;
  readonly workers: number;
}

/**
 * Short, so that a moment in which the machine is slower falls on both of a pair; long beside the
 * tenth of a millisecond in which all workers start.
 */
const SLICE_MS = 10;

/** A single client for the time of a first packet: under load it would be the time in queues. */
const LOADS: Readonly<Record<DataMode, Load>> = {
  connect: { pairs: 40, workers: 16 },
  first: { pairs: 20, workers: 1 },
  request: { pairs: 60, workers: 16 },
  throughput: { pairs: 40, workers: 1 },
  datagram: { pairs: 40, workers: 16 },
};

export interface DataPathOptions {
  readonly pods: DataPods;
  readonly nodePath: string;
  /** False: no proxy serves the Service's address, and the pod is compared with itself. */
  readonly hasProxy: boolean;
  readonly cycles: number;
  readonly signal: AbortSignal;
}

/** Each kind of load to the pod and through the Service, all kinds alternately, several times. */
export async function measureDataPath(options: DataPathOptions): Promise<DataFigures[]> {
  const { pods, nodePath, hasProxy, cycles, signal } = options;
  const figures: DataFigures[] = [];
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (const mode of DATA_MODES) {
      signal.throwIfAborted();
      await forgetConnections(nodePath);
      const { direct, service } = mode === 'throughput' ? pods.sink : pods.echo;
      const beside = hasProxy ? service : direct;
      const asked = await ask(pods, {
        mode,
        to: direct,
        beside,
        sliceMs: SLICE_MS,
        ...LOADS[mode],
      });
      figures.push(figuresOf(mode, asked));
    }
  }
  return figures;
}

export function figuresOf(mode: DataMode, { to, beside }: Asked): DataFigures {
  const pairs = to.slices.flatMap((direct, index) => {
    const other = beside.slices[index];
    // Without an answer of the pod itself there is no reference.
    return other && direct.count > 0 ? [{ direct, other }] : [];
  });
  // A whole slice without an answer has the rate 0, and no cost per unit.
  const answered = pairs.filter(({ other }) => other.count > 0);
  return {
    mode,
    direct: sideFigures(to),
    beside: sideFigures(beside),
    rateShares: pairs.map(shareIn(perSecond)),
    cpuShares: answered.map(shareIn(cpuMicroseconds)),
    pairsLeftOut: to.slices.length - pairs.length,
  };
}

interface Pair {
  readonly direct: Slice;
  readonly other: Slice;
}

function shareIn(of: (slice: Slice) => number): (pair: Pair) => number {
  return ({ direct, other }) => rounded(of(other) / of(direct));
}

function sideFigures({ slices, p50Us, p99Us }: AskedSide): AskedFigures {
  const answered = slices.filter(({ count }) => count > 0);
  return {
    perSecond: median(slices.map(perSecond)),
    cpuMicroseconds: median(answered.map(cpuMicroseconds)),
    failed: slices.reduce((sum, { failed }) => sum + failed, 0),
    ...(p50Us === undefined ? {} : { p50Us }),
    ...(p99Us === undefined ? {} : { p99Us }),
  };
}

function perSecond({ count, seconds }: Slice): number {
  return count / seconds;
}

function cpuMicroseconds({ count, cpuSeconds }: Slice): number {
  return (cpuSeconds / count) * 1e6;
}

/** To a thousandth: the files are kept. */
function rounded(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}
