import { megabytes, milliseconds, seconds } from '../../../bench/report/units.ts';
import { quantile } from '../../../lab/host/spread.ts';
import type { NeighbourResult } from './result.ts';
import type { StickyClient } from './victim/sticky-clients.ts';

export interface Verdict {
  readonly what: string;
  readonly bound: string;
  readonly figure: string;
  readonly isKept: boolean;
}

const MOST_HELD_MS = 100;
const MOST_LIVEZ_MS = 1_000;
const MOST_RESIDENT_BYTES = 500 * 1024 ** 2;
/** Includes, with any proxy, up to 100 MB of conntrack entries and 60 MB of clients of the flood. */
const MOST_SLAB_BYTES = 300 * 1024 ** 2;
const MOST_LEFT_BYTES = 100 * 1024 ** 2;
/** Of three endpoints each has a third of 60 clients that come one after the other, give or take a fifth. */
const CLIENTS_TOGETHER = 60;
const MOST_SHARE = 0.65;
const HTTP_OK = 200;

/** What must hold for a neighbour, whatever the hostile user does. */
export function verdictsOf(result: NeighbourResult): Verdict[] {
  return [
    ...changeVerdicts(result),
    livezVerdict(result),
    ...memoryVerdicts(result),
    connectionsVerdict(result),
    ...affinityVerdicts(result.clients),
    ...aftermathVerdicts(result),
    ...(result.ended === undefined
      ? []
      : [{ what: 'the run', bound: 'to its end', figure: result.ended, isKept: false }]),
  ];
}

function changeVerdicts({ changes }: NeighbourResult): Verdict[] {
  const held = quantile(
    changes.map(({ heldMs }) => heldMs),
    0.99,
  );
  return [
    {
      what: "victim's change, the proxy's part, p99",
      bound: `< ${milliseconds(MOST_HELD_MS)}`,
      figure: `${milliseconds(held)} of ${changes.length}`,
      isKept: held < MOST_HELD_MS,
    },
  ];
}

function livezVerdict({ probes }: NeighbourResult): Verdict {
  const slowest = Math.max(...probes.map(({ tookMs }) => tookMs));
  const sick = probes.filter(({ status }) => status !== HTTP_OK).length;
  return {
    what: '/livez, the slowest answer',
    bound: '<= 1 s, 200',
    figure: `${milliseconds(slowest)}, ${sick}/${probes.length} bad`,
    isKept: slowest <= MOST_LIVEZ_MS && sick === 0,
  };
}

function memoryVerdicts({ memory, slabPeakBytes }: NeighbourResult): Verdict[] {
  const resident = Math.max(...memory.map(({ residentBytes }) => residentBytes));
  return [
    {
      what: 'memory of the process, peak',
      bound: `<= ${megabytes(MOST_RESIDENT_BYTES)}`,
      figure: megabytes(resident),
      isKept: resident <= MOST_RESIDENT_BYTES,
    },
    {
      what: 'slab above the start, peak',
      bound: `<= ${megabytes(MOST_SLAB_BYTES)}`,
      figure: megabytes(slabPeakBytes),
      isKept: slabPeakBytes <= MOST_SLAB_BYTES,
    },
  ];
}

function connectionsVerdict({ connections }: NeighbourResult): Verdict {
  return {
    what: "victim's connections that failed",
    bound: '0',
    figure: `${connections.failed} of ${connections.made}`,
    isKept: connections.failed === 0 && connections.made > 0,
  };
}

function affinityVerdicts(clients: readonly StickyClient[]): Verdict[] {
  const answered = clients.filter(({ first, again }) => first !== undefined && again !== undefined);
  const strayed = answered.filter(({ first, again }) => first !== again).length;
  const isEnough = answered.length >= CLIENTS_TOGETHER;
  const share = largestShare(answered.map(({ first = '' }) => first));
  return [
    {
      what: "victim's sticky clients that changed endpoint",
      bound: '0',
      figure: `${strayed} of ${answered.length}`,
      isKept: strayed === 0 && isEnough && answered.length === clients.length,
    },
    {
      what: 'largest share of one of 3 endpoints',
      bound: `<= ${MOST_SHARE.toFixed(2)}`,
      figure: share.toFixed(2),
      isKept: isEnough && share <= MOST_SHARE,
    },
  ];
}

/** The largest share of one endpoint among `CLIENTS_TOGETHER` successive clients. */
function largestShare(endpoints: readonly string[]): number {
  let largest = 0;
  for (let from = 0; from + CLIENTS_TOGETHER <= endpoints.length; from += CLIENTS_TOGETHER / 4) {
    const counts = new Map<string, number>();
    for (const name of endpoints.slice(from, from + CLIENTS_TOGETHER)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    largest = Math.max(largest, ...counts.values());
  }
  return largest / CLIENTS_TOGETHER;
}

function aftermathVerdicts({ aftermath }: NeighbourResult): Verdict[] {
  const { convergedSeconds, emptiedSeconds, slabBytes, difference } = aftermath;
  const verdicts: Verdict[] = [];
  for (const [what, took] of [
    ['then: `fairlead diff` is empty', convergedSeconds],
    ['namespace deleted: it is empty', emptiedSeconds],
  ] as const) {
    if (took === undefined) continue;
    const isKept = Number.isFinite(took);
    const figure = isKept ? `after ${seconds(took)}` : (difference ?? 'never');
    verdicts.push({ what, bound: 'in the end', figure, isKept });
  }
  if (slabBytes === undefined) return verdicts;
  return [
    ...verdicts,
    {
      what: 'slab left after the namespace was deleted',
      bound: `<= ${megabytes(MOST_LEFT_BYTES)}`,
      figure: megabytes(slabBytes),
      isKept: slabBytes <= MOST_LEFT_BYTES,
    },
  ];
}
