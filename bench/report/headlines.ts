import type { Run } from '../record.ts';
import { sizeText } from '../sizes.ts';
import type { Section } from './section.ts';
import {
  type Cell,
  changesOf,
  coldMs,
  coldOf,
  findCell,
  loadOf,
  restingBytes,
  shareOfDirect,
} from './summary.ts';
import { megabytes, milliseconds, seconds, share, times } from './units.ts';

const OURS = 'fairlead-nftables';
const PEER = 'upstream-nftables';
const SOCKETS = 'fairlead-socket-ebpf';
/** With the shorter of its two waits. */
const CILIUM = 'cilium-10ms';
/** The largest that kube-proxy can be run with, the largest of all, and a small one. */
const COMPARED = 10_000;
/** A thousand more come at once. */
const BULK_COMPARED = 5_000;
const LARGEST = 50_000;
const SMALL = 100;

interface Line {
  readonly what: string;
  readonly services: number;
  /** The measure that has it, for the command. */
  readonly measure: 'cold' | 'change' | 'bulk' | 'data';
  readonly figure: (cell: Cell) => number | undefined;
  readonly unit: (value: number) => string;
  /** Of Fairlead; nftables when not given. */
  readonly mode?: string;
}

const LINES: readonly Line[] = [
  {
    what: 'one changed endpoint, write to packet',
    services: COMPARED,
    measure: 'change',
    figure: (cell) => changesOf(cell)?.p50Ms,
    unit: milliseconds,
  },
  {
    what: 'the same, after the answer of the API server',
    services: COMPARED,
    measure: 'change',
    figure: (cell) => changesOf(cell)?.afterWrittenP50Ms,
    unit: milliseconds,
  },
  {
    what: 'CPU of that change',
    services: COMPARED,
    measure: 'change',
    figure: (cell) => changesOf(cell)?.cpuMsPerChange,
    unit: milliseconds,
  },
  {
    what: '1,000 Services at once, until the last one answers',
    services: BULK_COMPARED,
    measure: 'bulk',
    figure: (cell) => loadOf(cell, 'bulk', ({ wholeMs }) => wholeMs)?.median,
    unit: milliseconds,
  },
  {
    what: 'cold start',
    services: COMPARED,
    measure: 'cold',
    figure: (cell) => coldMs(cell)?.median,
    unit: milliseconds,
  },
  {
    what: 'memory after the start',
    services: COMPARED,
    measure: 'cold',
    figure: (cell) => restingBytes(cell)?.median,
    unit: megabytes,
  },
  {
    what: 'one changed endpoint, write to packet',
    services: LARGEST,
    measure: 'change',
    figure: (cell) => changesOf(cell)?.p50Ms,
    unit: milliseconds,
  },
  {
    what: 'requests on kept connections through socket hooks, relative to direct',
    services: LARGEST,
    measure: 'data',
    figure: (cell) => shareOfDirect(cell, 'request')?.median,
    unit: share,
    mode: SOCKETS,
  },
  {
    what: 'CPU of a start',
    services: SMALL,
    measure: 'cold',
    figure: (cell) => coldOf(cell, ({ cpuSeconds }) => cpuSeconds)?.median,
    unit: seconds,
  },
  {
    what: 'memory after the start',
    services: SMALL,
    measure: 'cold',
    figure: (cell) => restingBytes(cell)?.median,
    unit: megabytes,
  },
];

/** Ten lines that a reader may stop after, among them what others do better. */
export function headlinesSection(run: Run): Section {
  return {
    name: 'headlines',
    title: 'In ten lines',
    head: [
      'what',
      'cluster',
      'Fairlead',
      'kube-proxy',
      'relative',
      'Cilium, 10 ms wait',
      'again by',
    ],
    rows: LINES.map((line) => rowOf(run, line)),
  };
}

function rowOf(run: Run, line: Line): string[] {
  const { what, services, measure, figure, unit, mode = OURS } = line;
  const ours = findCell(run, { services, proxy: mode });
  const peer = findCell(run, { services, proxy: PEER });
  const cilium = findCell(run, { services, proxy: CILIUM });
  const mine = ours && figure(ours);
  const others = cilium && figure(cilium);
  const theirs = mode === OURS && peer ? figure(peer) : undefined;
  const size = ours?.size ?? { services, endpointsPerService: 5 };
  const { endpointsPerService } = size;
  return [
    what,
    sizeText(size),
    mine === undefined ? 'not measured' : unit(mine),
    theirs === undefined ? '' : unit(theirs),
    mine === undefined || theirs === undefined ? '' : times(mine / theirs),
    others === undefined ? '' : unit(others),
    `\`npm run bench -- --measure ${measure} --sizes ${services}x${endpointsPerService}\``,
  ];
}
