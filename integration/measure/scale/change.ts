import { memoryOf } from '../../../bench/control/process-figures.ts';
import type { Memory } from '../../../bench/record.ts';
import { abortable } from '../../../lab/host/interruption.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import type { LoadSize } from '../../../lab/load/objects.ts';
import type { Quantiles } from '../../../src/agent/snapshot.ts';
import { ApiChanges } from './api-changes.ts';

import { type ProxyProcess, snapshotOf, startOn, untilSynced } from './proxy-process.ts';
import { microseconds, type Section } from './report.ts';
import { type RestartFigures, restartSection } from './restart.ts';
import { shippedFairlead } from './shipped.ts';

const NODE = 'node1';
const FEW: LoadSize = { services: 100, endpointsPerService: 5 };
const MANY: LoadSize = { services: 50_000, endpointsPerService: 5 };
/** Not more: the API server of a large cluster is slow to make them. */
const SERVICE_BLOCKS = 8;
const SERVICES_PER_BLOCK = 20;
const P50_LIMIT_MS = 1;
const P99_LIMIT_MS = 5;
const GROWTH_LIMIT = 1.5;

/** A cluster with Fairlead on its node; the process is another one after a restart. */
interface Site {
  readonly lab: Lab;
  readonly size: LoadSize;
  proxy: ProxyProcess;
  readonly changes: ApiChanges;
  readonly start: { readonly afterMs: number; readonly memory: Memory };
}

interface ChangeFigures {
  readonly what: string;
  readonly services: number;
  readonly received: Quantiles;
}

/**
 * `fairlead run` in two clusters at once, a small one and a large one, with changes alternately
 * through their API servers: a disturbance of the machine affects both.
 */
export async function measureChange(progress: Progress, signal: AbortSignal): Promise<Section[]> {
  await using small = await startLab({ nodeCount: 1, load: FEW, progress, signal });
  await using large = await startLab({ nodeCount: 1, load: MANY, progress, signal });
  const sites = [await open(small, FEW, signal), await open(large, MANY, signal)];
  const figures: ChangeFigures[] = [];
  await progress.step('a Service comes and goes, fifty a second at most', async () => {
    for (let block = 0; block < SERVICE_BLOCKS; block++) {
      for (const { changes } of sites) {
        await abortable(changes.comeAndGo(SERVICES_PER_BLOCK), signal);
      }
    }
    for (const site of sites) figures.push(await figuresOf(site, 'Service added or removed'));
  });
  const restarts: RestartFigures[] = [];
  await progress.step('restart', async () => {
    for (const site of sites) restarts.push(await restart(site, signal));
  });
  return [changeSection(figures), restartSection(restarts)];
}

async function open(lab: Lab, size: LoadSize, signal: AbortSignal): Promise<Site> {
  const proxy = await startOn(lab, NODE, shippedFairlead());
  const { afterMs } = await untilSynced(proxy, signal);
  const changes = new ApiChanges(lab.api);
  await changes.prepare();
  const start = { afterMs, memory: await memoryOf(proxy.daemon.pid) };
  return { lab, size, proxy, changes, start };
}

async function figuresOf({ proxy, size }: Site, what: string): Promise<ChangeFigures> {
  const { propagation } = await snapshotOf(proxy);
  return { what, services: size.services, received: propagation.received };
}

/** Everything is in the kernel already, and must be found to be. */
async function restart(site: Site, signal: AbortSignal): Promise<RestartFigures> {
  const { lab, size, start } = site;
  const memoryBefore = await memoryOf(site.proxy.daemon.pid);
  await site.proxy.daemon.stop();
  const again = await startOn(lab, NODE, shippedFairlead());
  site.proxy = again;
  const { afterMs, snapshot } = await untilSynced(again, signal);
  return {
    size,
    start,
    memoryAfterChanges: memoryBefore,
    again: { afterMs, memory: await memoryOf(again.daemon.pid) },
    inspection: snapshot.lastInspection,
  };
}

function changeSection(figures: readonly ChangeFigures[]): Section {
  return {
    name: 'change',
    title: '`fairlead run`, from the receipt of a change to the acknowledgement of the kernel',
    head: ['change', 'services', 'changes', 'p50', 'p90', 'p99', 'longest'],
    rows: figures.map(({ what, services, received }) => [
      what,
      String(services),
      String(received.count),
      ...[received.p50Ms, received.p90Ms, received.p99Ms, received.maxMs].map(microseconds),
    ]),
    limits: [...new Set(figures.map(({ what }) => what))].flatMap((what) => {
      const [few, many] = figures.filter((each) => each.what === what);
      if (!few || !many) throw new Error(`${what} was not measured in both clusters`);
      const { p50Ms, p99Ms } = many.received;
      return [
        { what: `${what}: p50`, figure: p50Ms, atMost: P50_LIMIT_MS, unit: 'ms' },
        { what: `${what}: p99`, figure: p99Ms, atMost: P99_LIMIT_MS, unit: 'ms' },
        {
          what: `${what}: p50, of that at ${few.services}`,
          figure: p50Ms / few.received.p50Ms,
          atMost: GROWTH_LIMIT,
          unit: 'times',
        },
        {
          what: `${what}: p99, of that at ${few.services}`,
          figure: p99Ms / few.received.p99Ms,
          atMost: GROWTH_LIMIT,
          unit: 'times',
        },
      ] as const;
    }),
    figures,
  };
}
