import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { ServerError } from '../../agent/servers/server-error.ts';
import { readHistory, readNode } from '../../agent/servers/status-client.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import { conntrackFill, conntrackLosses } from '../../linux/conntrack/table-use.ts';
import { kernelSysctls, type Sysctls } from '../../linux/sysctl.ts';
import type { Mode } from '../../modes/mode.ts';
import { modeOfAgent } from '../../modes/mode-registry.ts';
import type { Clock } from '../../time/clock.ts';
import { notesOf } from '../top/notes.ts';
import { assertSameConntrack, watchOf } from '../top/open-watch.ts';
import type { ServiceFigures } from '../top/traffic-figures.ts';
import { type Gathered, serviceRows, totalsOf } from '../top/traffic-rows.ts';
import { type AgentSource, agentSource, type Served } from '../top/traffic-sources.ts';
import type { Reading, TrafficWatch } from '../top/traffic-watch.ts';
import { AgentStatus, type StatusNow } from './agent-status.ts';
import { ChangeFeed, type Fed } from './change-feed.ts';
import { DotField, serviceOf, withoutPort } from './dots.ts';
import { EndsOfFlows } from './ends.ts';
import type { Ages, ConntrackNow, TickTotals, ViewTick } from './protocol/tick.ts';
import { rounded } from './rounding.ts';
import { readService, ServiceRows } from './service-rows.ts';
import { changeOf } from './shown-change.ts';
import { trafficMap } from './traffic-map.ts';

export interface AgentWatchOptions {
  readonly socketPath: string;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  readonly signal: AbortSignal;
}

export const TICK_MS = 1_000;
const MOST_DOTS = 400;
const MOST_CHANGES = 20;
/** Services whose endpoints are looked up in one tick. */
const MOST_READ = 10;
/** Services that are asked for one by one after a change; of more all are read again. */
const MOST_PATCHED = 50;

/** One agent as long as it runs: its Services, its traffic, its history. */
export class AgentWatch {
  readonly node: AgentNode;
  readonly dots = new DotField();
  readonly rows: ServiceRows;
  readonly status: AgentStatus;
  readonly interest: Interest;
  readonly #options: AgentWatchOptions;
  readonly #agent: AgentSource;
  readonly #watch: TrafficWatch;
  readonly #feed: ChangeFeed;
  readonly #ends: EndsOfFlows;
  readonly #unseenSources: readonly SourceClass[];
  #gathered: Gathered | undefined;
  #liveSeen: Gathered['live'];

  private constructor(node: AgentNode, mode: Mode | undefined, options: AgentWatchOptions) {
    const { socketPath, clock, signal } = options;
    const monotonicMs = (): number => clock.monotonicMs();
    this.node = node;
    this.#options = options;
    this.rows = new ServiceRows(readService(socketPath), monotonicMs);
    this.status = new AgentStatus(socketPath, monotonicMs);
    this.interest = new Interest(monotonicMs);
    this.#agent = agentSource(socketPath);
    this.#feed = new ChangeFeed(
      async (request) => await readHistory(request, { socketPath }),
      monotonicMs,
    );
    this.#ends = new EndsOfFlows(this.rows);
    this.#unseenSources = mode?.unseenSources ?? [];
    this.#watch = watchOf(node, {
      known: mode,
      agent: { ...this.#agent, served: async (version) => await this.#readServed(version) },
      alsoRead: () => this.#wantedKeys(),
      intervalMs: TICK_MS,
      signal,
    });
  }

  /** Reads which Services there are: enough for dots and search. Throws ServerError or CommandError. */
  static async begin(options: AgentWatchOptions): Promise<AgentWatch> {
    const node = await readNode({ socketPath: options.socketPath });
    assertSameConntrack(node, 'view');
    const watch = new AgentWatch(node, await modeOfAgent(node.mode), options);
    await watch.#feed.poll();
    await watch.#watch.readServices();
    return watch;
  }

  /** Reads everything else once, which takes longer: a tick compares with it. */
  async prepare(): Promise<void> {
    await this.#watch.begin();
  }

  /** The figures of the last tick. */
  get gathered(): Gathered | undefined {
    return this.#gathered;
  }

  /** Throws ServerError where the agent does not answer, or is another one. */
  async tick(): Promise<ViewTick> {
    const fed = await this.#feed.poll();
    if (fed.isRestarted) throw restarted(this.node.pid);
    await this.#follow(fed);
    const reading = await this.#watch.read();
    this.#gathered = reading.gathered;
    const status = await this.status.now();
    const rows = serviceRows(reading.gathered);
    const busyRows = rows.filter((row) => (row.newPerSecond ?? 0) > 0);
    const busy = new Set(busyRows.map(({ service }) => withoutPort(service)));
    await this.rows.read([...busy], MOST_READ);
    this.#observe(reading, { status, fed, busy });
    return this.#tickOf(reading, { rows, status, fed });
  }

  async #readServed(version?: string): Promise<Served | undefined> {
    const served = await this.#agent.served(version);
    if (served !== undefined) this.dots.take(served.ports);
    return served;
  }

  /** Changed Services are asked for at once: all are read only now and then. */
  async #follow({ entries, leftOut }: Fed): Promise<void> {
    const changed = [...new Set(entries.map(({ service }) => service))].filter(
      (service) => service !== '',
    );
    for (const service of changed) this.rows.expectChange(service);
    if (changed.length > MOST_PATCHED || leftOut > 0) this.#watch.expectNewServices();
    const asked = changed.slice(0, MOST_PATCHED);
    if (asked.length === 0) return;
    const versionBefore = this.dots.version;
    this.dots.patch(asked, await this.#agent.servedOf(asked));
    if (this.dots.version !== versionBefore) this.#watch.expectNewServices();
  }

  #wantedKeys(): readonly string[] {
    return this.interest
      .services()
      .flatMap((service) => this.dots.portsOf(service).map(([key]) => key));
  }

  #observe(
    { gathered }: Reading,
    tick: { readonly status: StatusNow; readonly fed: Fed; readonly busy: ReadonlySet<string> },
  ): void {
    const { live, heard } = gathered;
    const waiting = tick.fed.entries.filter(({ kernel }) => kernel === 'waiting');
    // A sweep rests for long, and its result may have every Service.
    const isNew = live !== this.#liveSeen;
    this.#liveSeen = live;
    this.dots.observe({
      busy: new Set([...tick.busy, ...heard.services().keys().map(serviceOf)]),
      used: isNew && live ? live.services().keys().map(serviceOf) : [],
      waiting: new Set([
        ...tick.status.failing.map(serviceOf),
        ...waiting.map(({ service }) => service).filter((service) => service !== ''),
      ]),
    });
  }

  #tickOf(
    reading: Reading,
    read: {
      readonly rows: readonly ServiceFigures[];
      readonly status: StatusNow;
      readonly fed: Fed;
    },
  ): ViewTick {
    const { gathered, known, limits } = reading;
    const { rows, status, fed } = read;
    const { propagation, isReady, troubles } = status;
    const conntrack = conntrackNow();
    const { version } = this.dots;
    return {
      tick: reading.tick,
      atMs: Math.round(this.#options.clock.wallMs()),
      seconds: rounded(gathered.seconds),
      totals: totalsIn(reading, rows),
      rows: status.rows,
      ...(propagation === undefined ? {} : { propagation }),
      ...(conntrack === undefined ? {} : { conntrack }),
      map: trafficMap({
        gathered,
        rows,
        known,
        unseenSources: this.#unseenSources,
        ends: this.#ends,
      }),
      dots: {
        ...(version === undefined ? {} : { version }),
        changed: this.dots.changes(MOST_DOTS),
      },
      changes: fed.entries.slice(0, MOST_CHANGES).map(changeOf),
      changesLeftOut: fed.leftOut + Math.max(0, fed.entries.length - MOST_CHANGES),
      isReady,
      troubles,
      ages: this.#ages(reading),
      notes: notesOf({ by: 'service', ...limits }),
    };
  }

  #ages({ sources }: Reading): Ages {
    const { countersAgeSeconds, countersSeconds, liveAgeSeconds, refusedAgeSeconds } = sources;
    const status = this.status.ageSeconds;
    return {
      ...(countersAgeSeconds === undefined ? {} : { counters: countersAgeSeconds }),
      ...(countersSeconds === undefined ? {} : { countersOver: rounded(countersSeconds) }),
      ...(liveAgeSeconds === undefined ? {} : { live: liveAgeSeconds }),
      ...(refusedAgeSeconds === undefined ? {} : { refused: refusedAgeSeconds }),
      ...(status === undefined ? {} : { status: rounded(status) }),
      sharesOver: sources.shareSeconds,
      events: sources.events,
    };
  }
}

function totalsIn({ gathered, known }: Reading, rows: readonly ServiceFigures[]): TickTotals {
  const { keys, live } = gathered;
  const totals = totalsOf(rows, { measured: keys.length, known, live });
  const { newPerSecond, rejectedPerSecond, droppedPerSecond } = totals;
  return {
    ...(newPerSecond === undefined ? {} : { newPerSecond: rounded(newPerSecond) }),
    ...(totals.live === undefined ? {} : { live: totals.live }),
    ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond: rounded(rejectedPerSecond) }),
    ...(droppedPerSecond === undefined ? {} : { droppedPerSecond: rounded(droppedPerSecond) }),
    busyPorts: totals.busyServices,
    measuredPorts: totals.measuredServices,
    knownPorts: totals.knownServices,
  };
}

function restarted(pid: number): ServerError {
  return new ServerError('STATUS_UNREACHABLE', `the agent (pid ${pid}) was restarted`, {
    next: 'its figures begin again',
  });
}

/** How full conntrack is. Undefined: this kernel has none. */
function conntrackNow(sysctls: Sysctls = kernelSysctls()): ConntrackNow | undefined {
  const fill = conntrackFill(sysctls);
  if (fill === undefined) return undefined;
  const losses = conntrackLosses();
  return {
    entries: fill.entries,
    max: fill.limit,
    ...(losses === undefined
      ? {}
      : {
          insertFailed: losses.insertFailed,
          earlyDrop: losses.earlyDrop,
          dropped: losses.drop,
        }),
  };
}

const KEPT_MS = 10_000;
const MOST_SERVICES = 8;

/** Services that a page shows at present: their counters are read although they may not be busy. */
class Interest {
  readonly #monotonicMs: () => number;
  readonly #untilMs = new Map<string, number>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  add(service: string): void {
    this.#untilMs.delete(service);
    this.#untilMs.set(service, this.#monotonicMs() + KEPT_MS);
    const surplus = Math.max(0, this.#untilMs.size - MOST_SERVICES);
    for (const oldest of this.#untilMs.keys().take(surplus)) {
      this.#untilMs.delete(oldest);
    }
  }

  services(): readonly string[] {
    const nowMs = this.#monotonicMs();
    return [...this.#untilMs].filter(([, untilMs]) => untilMs > nowMs).map(([name]) => name);
  }
}
