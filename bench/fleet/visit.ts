import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../../lab/host/interruption.ts';
import { NEWEST_API_VERSION } from '../../lab/parts/api-version.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { apiCostOf, apiServerBytes } from './api-server.ts';
import { answeredEverywhereAtMs } from './everywhere.ts';
import { Fleet } from './fleet.ts';
import type { FleetStep, FleetVisit, Herd } from './record.ts';
import type { FleetSite } from './site.ts';

const CHANGES = 100;
/** A controller rarely writes the same slice faster. */
const CHANGE_EVERY_MS = 100;

export interface FleetVisitOptions {
  readonly site: FleetSite;
  readonly proxy: string;
  readonly variant: ProxyVariant;
  /** The same without jitter; undefined: it cannot be switched off. */
  readonly inStep?: ProxyVariant;
  /** Ascending numbers of machines. */
  readonly machines: readonly number[];
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

export async function visitFleet(options: FleetVisitOptions): Promise<FleetVisit> {
  const { proxy, variant, inStep, machines } = options;
  const steps: FleetStep[] = [];
  const herds: Herd[] = [];
  {
    await using fleet = new Fleet(options.site.lab, variant);
    for (const count of machines) {
      options.detail(`${count} machines`);
      steps.push(await step(options, fleet, count));
    }
    options.detail('API server replaced');
    herds.push(await herd(options, fleet, true));
  }
  if (inStep) {
    options.detail('the same without jitter');
    await using fleet = new Fleet(options.site.lab, inStep);
    await fleet.growTo(machines.at(-1) ?? 0);
    herds.push(await herd(options, fleet, false));
  }
  return { proxy, steps, herds };
}

async function step(
  { site, signal }: FleetVisitOptions,
  fleet: Fleet,
  machines: number,
): Promise<FleetStep> {
  const startedMachines = machines - fleet.nodes.length;
  const begunAtMs = performance.now();
  let tookSeconds = 0;
  const started = await apiCostOf(site, async () => {
    await fleet.growTo(machines);
    tookSeconds = (performance.now() - begunAtMs) / 1_000;
  });
  const changed = await apiCostOf(site, async () => {
    for (let index = 0; index < CHANGES; index++) {
      const { written } = site.last.turn();
      await written;
      await abortable(pause(CHANGE_EVERY_MS), signal);
    }
  });
  return {
    machines,
    start: { ...started, machines: startedMachines, tookSeconds },
    changes: { ...changed, count: CHANGES },
    residentBytes: await apiServerBytes(site),
  };
}

/** The change is written after the new API server is ready, so no machine can have it from before. */
async function herd(
  { site, signal }: FleetVisitOptions,
  { nodes }: Fleet,
  jitter: boolean,
): Promise<Herd> {
  let rightAfterMs: readonly number[] = [];
  const cost = await apiCostOf(site, async () => {
    await site.lab.replaceApiServer({ version: NEWEST_API_VERSION, flags: [] });
    const readyAtMs = performance.now();
    const { who, written } = site.last.turn();
    const atMs = answeredEverywhereAtMs({ site, nodes, who, signal });
    await written;
    rightAfterMs = (await atMs).map((each) => each - readyAtMs);
  });
  return { ...cost, machines: nodes.length, jitter, rightAfterMs };
}
