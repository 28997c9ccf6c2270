import type { Progress } from '../../lab/host/progress.ts';
import { startLab } from '../../lab/lab.ts';
import type { LoadSize } from '../../lab/load/objects.ts';
import { findProxy } from '../../lab/proxies/registry.ts';
import { LastService } from './last-service.ts';
import { measurePeer, type Peer, type PeerFigures } from './peer.ts';
import { fixed, type Limit, megabytes, milliseconds, type Section } from './report.ts';
import { shippedFairlead } from './shipped.ts';

/** Beyond it kube-proxy's rules have locked up a CPU in the kernel for a quarter of an hour. */
const MOST_UPSTREAM_SERVICES = 10_000;
const SIZES: readonly LoadSize[] = [
  { services: 5_000, endpointsPerService: 5 },
  { services: 10_000, endpointsPerService: 10 },
];
const OUR_CHANGES = 200;
const UPSTREAM_CHANGES = 20;
const OUR_QUIET_MS = 50;
/** Longer than its least time between two syncs, which it would else spend waiting. */
const UPSTREAM_QUIET_MS = 1_500;

interface SizeFigures {
  readonly size: LoadSize;
  readonly ours: PeerFigures;
  readonly upstream: PeerFigures;
}

/** Fairlead and kube-proxy in the same cluster, one after the other, each on a node of its own. */
export async function measurePeers(progress: Progress, signal: AbortSignal): Promise<Section> {
  const figures: SizeFigures[] = [];
  for (const size of SIZES) figures.push(await measureSize(size, progress, signal));
  return {
    name: 'peers',
    title: 'Beside kube-proxy in nftables mode',
    head: [
      'cluster',
      'proxy',
      'cold start',
      'its CPU',
      'changes',
      'API write to first answer p50',
      'p99',
      'of it the API server',
      'CPU a change',
      'memory',
      'after changes',
    ],
    rows: figures.flatMap(({ size, ours, upstream }) => [rowOf(size, ours), rowOf(size, upstream)]),
    limits: figures.flatMap(limitsOf),
    figures,
  };
}

async function measureSize(
  size: LoadSize,
  progress: Progress,
  signal: AbortSignal,
): Promise<SizeFigures> {
  if (size.services > MOST_UPSTREAM_SERVICES) throw new RangeError('too many for kube-proxy');
  await using lab = await startLab({ nodeCount: 2, load: size, progress, signal });
  const service = await LastService.create(lab);
  const measure = async (peer: Peer): Promise<PeerFigures> =>
    await progress.step(
      `${peer.variant.name}, ${size.services} x ${size.endpointsPerService}`,
      () => measurePeer(lab, peer, { service, signal }),
    );
  const ours = await measure({
    variant: shippedFairlead(),
    node: 'node1',
    changes: OUR_CHANGES,
    quietMs: OUR_QUIET_MS,
  });
  const upstream = await measure({
    variant: findProxy('upstream-nftables'),
    node: 'node2',
    changes: UPSTREAM_CHANGES,
    quietMs: UPSTREAM_QUIET_MS,
  });
  return { size, ours, upstream };
}

function rowOf(size: LoadSize, figures: PeerFigures): string[] {
  const { changed, coldStartMs, memory } = figures;
  return [
    `${size.services} x ${size.endpointsPerService}`,
    figures.proxy,
    coldStartMs === undefined ? 'ended, had not answered' : milliseconds(coldStartMs),
    `${fixed(figures.coldCpuSeconds)} s`,
    String(changed?.sinceSent.count ?? 0),
    changed ? milliseconds(changed.sinceSent.p50Ms) : '',
    changed ? milliseconds(changed.sinceSent.p99Ms) : '',
    changed ? milliseconds(changed.written.p50Ms) : '',
    changed ? milliseconds(changed.cpuSecondsPerChange * 1_000) : '',
    `${megabytes(memory.residentBytes)} (PSS ${megabytes(memory.proportionalBytes)})`,
    changed ? megabytes(changed.memory.residentBytes) : '',
  ];
}

function limitsOf({ size, ours, upstream }: SizeFigures): Limit[] {
  const limit = (what: string, atMost: number, of: (figures: PeerFigures) => number): Limit => ({
    what: `${size.services} x ${size.endpointsPerService}: ${what}, of upstream's`,
    figure: of(ours) / of(upstream),
    atMost,
    unit: 'times',
  });
  return [
    limit('cold start', 1 / 5, ({ coldStartMs }) => coldStartMs ?? Number.POSITIVE_INFINITY),
    limit('changed endpoint p99', 1 / 100, (f) => f.changed?.sinceSent.p99Ms ?? Number.NaN),
    limit('memory', 1 / 2, ({ memory }) => memory.residentBytes),
    limit('memory after changes', 1 / 2, (f) => f.changed?.memory.residentBytes ?? Number.NaN),
    limit('CPU a change', 1 / 50, (f) => f.changed?.cpuSecondsPerChange ?? Number.NaN),
  ];
}
