import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../lab/host/interruption.ts';
import { until } from '../lab/host/until.ts';
import type { Contestant } from './contestants.ts';
import type { Waiting } from './control/asker.ts';
import { type Changed, measureChanges } from './control/changes.ts';
import { untilStarted } from './control/cold.ts';
import { createServices, type LoadTimes, rollEndpoints, untilInForce } from './control/loads.ts';
import { cpuSecondsOf, memoryOf } from './control/process-figures.ts';
import { NODE, NODE_INDEX, type ProxyProcess, startOn } from './control/proxy-process.ts';
import { readReceipts } from './control/status.ts';
import { measureDataPath } from './data/data-path.ts';
import type { Measure } from './measures.ts';
import type { ChangeFigures, ColdFigures, Cost, LoadFigures, Memory, Visit } from './record.ts';
import { assertHooked } from './site/hooks.ts';
import type { Site } from './site/site.ts';
import { wipeNode } from './site/wipe.ts';

/** Delay from the first answer to reading memory: a start ends with work in the background. */
const SETTLE_MS = 2_000;
/** IPVS keeps deleted destinations for two minutes, and compares each new one with them. */
const IPVS_FORGETS_MS = 125_000;
const LOAD_DEADLINE_MS = 120_000;
const COMPILE_DEADLINE_MS = 120_000;
const LOOK_EVERY_MS = 500;
/** One program after the other is compiled. */
const CALM_LOOKS = 8;
const DATA_CYCLES = 4;
/** For a fast proxy: changes whose stages are read from its metrics. */
const STAGED_OF_MANY = 20;

export interface VisitOptions {
  readonly site: Site;
  readonly contestant: Contestant;
  /** What Node is given to run Fairlead. */
  readonly program: readonly string[];
  readonly round: number;
  readonly measures: ReadonlySet<Measure>;
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
  /** Called when what the start has written is in the kernel, and no more. */
  readonly afterStart: () => Promise<void>;
}

type Figures = { -readonly [K in keyof Visit]?: Visit[K] };

/** One proxy on the node, from its start to its end; then the node is as if it had never been. */
export async function visit(options: VisitOptions): Promise<Visit> {
  const { site, contestant, signal } = options;
  const begunAtMs = performance.now();
  const nodePath = site.lab.namespacePath(NODE);
  const figures: Figures = {};
  await abortable(site.rested, signal);
  await contestant.makeReady?.(site.lab);
  const proxy = await startOn(site.lab, contestant.variant(options.program));
  try {
    await measureAll(new Watched(options, proxy, nodePath), figures);
  } finally {
    await proxy.daemon.kill();
    await site.rolling.remove();
    await site.bulk.remove();
  }
  signal.throwIfAborted();
  await wipeNode(nodePath, {
    ...contestant,
    pinFolder: site.lab.socketPlace(NODE_INDEX)?.pinFolder,
  });
  await contestant.wipe?.(nodePath);
  if (contestant.needsIpvs) site.rested = pause(IPVS_FORGETS_MS, undefined, { ref: false });
  return {
    size: site.size,
    proxy: contestant.name,
    round: options.round,
    tookSeconds: (performance.now() - begunAtMs) / 1_000,
    ...figures,
  };
}

async function measureAll(watched: Watched, figures: Figures): Promise<void> {
  const { contestant, measures, site, detail, signal } = watched.options;
  detail('start');
  const cold = await watched.cold();
  if (cold === undefined) {
    const end = watched.proxy.daemon.ended();
    const bound = `ended: no answer in ${contestant.startBoundMs / 1_000} s`;
    figures.ended = end === undefined ? bound : `exited unexpectedly (${end})`;
    return;
  }
  if (contestant.isOurs && contestant.isEbpf) await assertHooked(site.lab.socketPlace(NODE_INDEX));
  if (measures.has('cold')) figures.cold = cold;
  if (measures.has('limit')) await watched.options.afterStart();
  if (measures.has('change')) {
    figures.changes = await watched.changes();
    if (contestant.isOurs) {
      detail('changes of other Services');
      await site.loaded.flip(signal);
      figures.receipt = await readReceipts(watched.proxy.statusSocket);
    }
  }
  if (measures.has('rolling')) {
    detail('rolling update of 1,000 endpoints');
    await site.rolling.create();
    await untilInForce(site, watched.waiting);
    figures.rolling = await watched.load(() => rollEndpoints(site, watched.waiting));
  }
  if (measures.has('bulk')) {
    detail('1,000 Services at once');
    figures.bulk = await watched.load(() => createServices(site, watched.waiting));
  }
  if (measures.has('data')) {
    detail('data path');
    figures.data = await measureDataPath({
      pods: site.data,
      nodePath: watched.nodePath,
      hasProxy: true,
      cycles: DATA_CYCLES,
      signal,
    });
  }
}

/** A proxy whose costs are counted. */
class Watched {
  readonly options: VisitOptions;
  readonly proxy: ProxyProcess;
  readonly nodePath: string;
  readonly waiting: Waiting;

  constructor(options: VisitOptions, proxy: ProxyProcess, nodePath: string) {
    this.options = options;
    this.proxy = proxy;
    this.nodePath = nodePath;
    this.waiting = {
      origin: { namespace: nodePath, group: options.site.lab.socketGroup(NODE_INDEX) },
      to: options.site.last.to,
      ports: options.site.ports,
      deadlineMs: LOAD_DEADLINE_MS,
      signal: options.signal,
    };
  }

  async cold(): Promise<ColdFigures | undefined> {
    const { contestant, site, signal } = this.options;
    const bytesBefore = await site.apiBytes.read();
    const started = await untilStarted(this.proxy, {
      ...this.waiting,
      deadlineMs: contestant.startBoundMs,
    });
    if (started === undefined) return undefined;
    await abortable(pause(SETTLE_MS), signal);
    if (contestant.compiles) await this.#untilCompiled();
    return {
      ...started,
      cpuSeconds: await cpuSecondsOf(this.proxy.daemon.pid),
      apiBytes: (await site.apiBytes.read()) - bytesBefore,
      memory: await this.#memory(),
    };
  }

  /** Else its compiler would count as the cost of changes. */
  async #untilCompiled(): Promise<void> {
    let calmLooks = 0;
    const look = async (): Promise<boolean> => {
      const { programsBytes } = await this.#memory();
      calmLooks = programsBytes === 0 ? calmLooks + 1 : 0;
      return calmLooks === CALM_LOOKS;
    };
    await until(look, {
      what: 'its compiler to end',
      deadlineMs: COMPILE_DEADLINE_MS,
      everyMs: LOOK_EVERY_MS,
      signal: this.options.signal,
    });
  }

  /** A slow proxy is asked after each change where the time went; of a fast one that would be part of the cost. */
  async changes(): Promise<ChangeFigures> {
    const { changes: count, isOurs, hasStages } = this.options.contestant;
    const isStaged = hasStages && !isOurs;
    const figures = await this.#withCost(() => this.#change({ count, isStaged }));
    if (!isOurs) return figures;
    const { stages } = await this.#change({ count: STAGED_OF_MANY, isStaged: true });
    return { ...figures, stages };
  }

  async #change(of: { readonly count: number; readonly isStaged: boolean }): Promise<Changed> {
    const { contestant, site, detail } = this.options;
    return await measureChanges({
      ...of,
      service: site.last,
      waiting: this.waiting,
      quietMs: contestant.quietMs,
      onProgress: (done) => detail(`change ${done} of ${of.count}`),
    });
  }

  async load(work: () => Promise<LoadTimes>): Promise<LoadFigures> {
    return await this.#withCost(work);
  }

  async #withCost<T>(work: () => Promise<T>): Promise<T & Cost & { memory: Memory }> {
    const { apiBytes } = this.options.site;
    const { pid } = this.proxy.daemon;
    const cpuBefore = await cpuSecondsOf(pid);
    const bytesBefore = await apiBytes.read();
    const result = await work();
    return {
      ...result,
      cpuSeconds: (await cpuSecondsOf(pid)) - cpuBefore,
      apiBytes: (await apiBytes.read()) - bytesBefore,
      memory: await this.#memory(),
    };
  }

  async #memory(): Promise<Memory> {
    return await memoryOf(this.proxy.daemon.pid);
  }
}
