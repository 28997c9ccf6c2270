import type { Run } from '../record.ts';
import { sizeText } from '../sizes.ts';
import type { Bound } from './bounds.ts';
import {
  type Cell,
  cellsOf,
  changesOf,
  coldMs,
  coldOf,
  findCell,
  receiptOf,
  restingBytes,
  shareOfDirect,
  stagesOf,
} from './summary.ts';

const OURS = 'fairlead-nftables';
const PEER = 'upstream-nftables';
const MS = 1_000;

/** Goal of each mode: requests on established connections, relative to direct. */
const REQUEST_GOALS = [
  { proxy: 'fairlead-socket-ebpf', atLeast: 0.97 },
  { proxy: 'fairlead-tc-ebpf', atLeast: 0.93 },
] as const;
const REQUEST_SIZES = [100, 50_000];

/** What Fairlead is meant to reach, in nftables mode if no other is named. Ratios are of things that were measured in one run. */
export function goalsOf(run: Run): Bound[] {
  const at = (services: number, proxy: string): Cell | undefined =>
    findCell(run, { services, proxy });
  return [
    ...changeGoals(at(50_000, OURS), at(100, OURS)),
    ...peerGoals(at(10_000, OURS), at(10_000, PEER)),
    {
      what: 'CPU of one endpoint change at 50,000 x 5',
      figure: cpuMsPerChange(at(50_000, OURS)),
      atMost: 1.5,
      unit: 'ms',
    },
    {
      what: 'CPU of a start at 100 x 5',
      figure: median(at(100, OURS), (cell) => coldOf(cell, ({ cpuSeconds }) => cpuSeconds)) * MS,
      atMost: 350,
      unit: 'ms',
    },
    {
      what: 'cold start at 50,000 x 5',
      figure: median(at(50_000, OURS), coldMs),
      atMost: 10_000,
      unit: 'ms',
    },
    ...memoryGoals(run),
    ...requestGoals(at),
    ...dataGoals({ many: at(50_000, OURS), one: at(0, OURS), peer: at(10_000, PEER) }),
  ];
}

function cpuMsPerChange(cell: Cell | undefined): number {
  return (cell && changesOf(cell)?.cpuMsPerChange) ?? Number.NaN;
}

function changeGoals(many: Cell | undefined, few: Cell | undefined): Bound[] {
  const receipt = many && receiptOf(many);
  const stages = many && stagesOf(many);
  const ours = stages?.sinceReceivedMs ?? Number.NaN;
  const few50 = (few && receiptOf(few)?.p50Ms) ?? Number.NaN;
  const what = 'one endpoint change at 50,000 x 5';
  return [
    {
      what: `${what}, receipt to acknowledgement, p50`,
      figure: receipt?.p50Ms ?? Number.NaN,
      atMost: 0.5,
      unit: 'ms',
    },
    {
      what: `${what}, receipt to acknowledgement, p99`,
      figure: receipt?.p99Ms ?? Number.NaN,
      atMost: 3,
      unit: 'ms',
    },
    {
      what: `${what}, receipt to the first packet, p50`,
      figure: ours,
      atMost: 20,
      unit: 'ms',
    },
    {
      what: `${what}, receipt to acknowledgement, p50 relative to 100 Services`,
      figure: (receipt?.p50Ms ?? Number.NaN) / few50,
      atMost: 1.5,
      unit: 'times',
    },
  ];
}

function peerGoals(ours: Cell | undefined, peer: Cell | undefined): Bound[] {
  const changed = (cell: Cell | undefined, of: 'p50Ms' | 'afterWrittenP50Ms'): number =>
    (cell && changesOf(cell)?.[of]) ?? Number.NaN;
  return [
    {
      what: 'one endpoint change at 10,000 x 10, write to packet p50, relative to upstream',
      figure: changed(ours, 'p50Ms') / changed(peer, 'p50Ms'),
      atMost: 1 / 200,
      unit: 'times',
    },
    {
      // What no proxy can shorten, the API server's own time, is left out on both sides.
      what: 'the same, after the answer of the API server, relative to upstream',
      figure: changed(ours, 'afterWrittenP50Ms') / changed(peer, 'afterWrittenP50Ms'),
      atMost: 1 / 200,
      unit: 'times',
    },
    {
      what: 'cold start at 10,000 x 10, relative to upstream',
      figure: median(ours, coldMs) / median(peer, coldMs),
      atMost: 1 / 10,
      unit: 'times',
    },
    {
      what: 'memory at 10,000 x 10, relative to upstream',
      figure: median(ours, restingBytes) / median(peer, restingBytes),
      atMost: 1 / 2,
      unit: 'times',
    },
  ];
}

function memoryGoals(run: Run): Bound[] {
  return cellsOf(run)
    .filter(({ proxy, size }) => proxy === PEER && size.services > 0)
    .filter((peer) => restingBytes(peer) !== undefined)
    .map((peer) => ({
      what: `memory at ${sizeText(peer.size)}, relative to upstream`,
      figure:
        median(findCell(run, { services: peer.size.services, proxy: OURS }), restingBytes) /
        median(peer, restingBytes),
      atMost: 1,
      unit: 'times' as const,
    }));
}

function requestGoals(at: (services: number, proxy: string) => Cell | undefined): Bound[] {
  return REQUEST_GOALS.flatMap(({ proxy, atLeast }) =>
    REQUEST_SIZES.map((services) => {
      const cell = at(services, proxy);
      const spread = cell && shareOfDirect(cell, 'request');
      return {
        what: `${proxy}: requests on kept connections at ${services.toLocaleString('en')} Services, relative to direct`,
        figure: spread?.median ?? Number.NaN,
        atLeast,
        unit: 'share' as const,
        spread,
      };
    }),
  );
}

/** As shares of direct connections, which were measured in the same moments: minutes apart a machine is another. */
function dataGoals(of: {
  readonly many: Cell | undefined;
  readonly one: Cell | undefined;
  readonly peer: Cell | undefined;
}): Bound[] {
  const share = (cell: Cell | undefined): number =>
    median(cell, (each) => shareOfDirect(each, 'connect'));
  const what = 'new connections a second at 50,000 Services, relative to direct,';
  return [
    {
      what: `${what} compared with one Service`,
      figure: share(of.many) / share(of.one),
      atLeast: 0.95,
      unit: 'share',
    },
    {
      what: `${what} compared with upstream at 10,000`,
      figure: share(of.many) / share(of.peer),
      atLeast: 1,
      unit: 'share',
    },
  ];
}

function median(
  cell: Cell | undefined,
  of: (cell: Cell) => { readonly median: number } | undefined,
): number {
  return (cell && of(cell)?.median) ?? Number.NaN;
}
