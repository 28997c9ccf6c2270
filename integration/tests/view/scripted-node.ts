import type { ChangesAnswer } from '../../../src/wings/view/protocol/changes-answer.ts';
import type { DoctorAnswer } from '../../../src/wings/view/protocol/doctor-answer.ts';
import type { DotState, Dots, SearchAnswer } from '../../../src/wings/view/protocol/dots-answer.ts';
import type { NodeAbout } from '../../../src/wings/view/protocol/node-hello.ts';
import type { PathAnswer } from '../../../src/wings/view/protocol/path-answer.ts';
import type { ServiceAnswer } from '../../../src/wings/view/protocol/service-page.ts';
import type { Hello, ViewTick } from '../../../src/wings/view/protocol/tick.ts';
import type { PathQuestion, ViewData } from '../../../src/wings/view/view-data.ts';
import { SCRIPTED_PATHS } from './scripted-paths.ts';
import { NOW_MS, scriptedChanges, scriptedDots, scriptedService } from './scripted-services.ts';
import { scriptedTraffic } from './scripted-traffic.ts';

export interface ScriptOptions {
  readonly services: number;
  /** Further Services, by name. */
  readonly extra?: readonly string[];
  readonly mayProbe?: boolean;
}

/** A fake: figures of a node that does not exist, for states that are hard to produce. */
export class ScriptedNode implements ViewData {
  readonly #options: ScriptOptions;
  readonly #dots: Dots;
  #ticks = 0;

  constructor(options: ScriptOptions) {
    this.#options = options;
    this.#dots = scriptedDots(options.services, options.extra);
  }

  #about(): NodeAbout {
    return {
      node: 'node1',
      zone: 'zone-a',
      mode: 'nftables',
      version: '1.0.0',
      pid: 1204,
      startedAtMs: NOW_MS - 12 * 86_400_000,
      atMs: NOW_MS,
      mayProbe: this.#options.mayProbe ?? false,
      isReady: true,
      troubles: [],
      unseenSources: [],
    };
  }

  async node(): Promise<NodeAbout> {
    return this.#about();
  }

  async hello(): Promise<Hello> {
    const past = Array.from({ length: 110 }, (_, at) => ({
      atMs: NOW_MS - (110 - at) * 1000,
      newPerSecond: 15_000 + at * 30 + 900 * Math.sin(at / 7) + 300 * Math.sin(at * 1.7),
      rejectedPerSecond: at < 66 ? 0 : 184 + 3 * Math.sin(at),
      droppedPerSecond: 40 + 4 * Math.sin(at / 3),
      p50Ms: 0.4 + 0.02 * Math.sin(at / 2) + (at === 66 ? 0.2 : 0),
    }));
    return { about: this.#about(), past, changes: scriptedChanges() };
  }

  tick(changed: readonly (readonly [number, DotState])[] = []): ViewTick {
    this.#ticks += 1;
    const at = this.#ticks;
    const map = scriptedTraffic(this.#dots.count, (key) => 1 + 0.04 * Math.sin(at + key.length));
    const totals = [...map.services, map.others];
    return {
      tick: at,
      atMs: NOW_MS + at * 1000,
      seconds: 1,
      totals: {
        newPerSecond: totals.reduce((so, { newPerSecond = 0 }) => so + newPerSecond, 0),
        live: 112_840,
        rejectedPerSecond: 184,
        droppedPerSecond: 40,
        busyPorts: 832,
        measuredPorts: 100,
        knownPorts: this.#dots.count,
      },
      rows: {
        desired: this.#dots.count,
        applied: this.#dots.count,
        pending: 0,
        failing: 0,
        services: this.#dots.count,
        endpoints: this.#dots.count * 5,
      },
      propagation: { count: 1000, p50Ms: 0.41, p99Ms: 2.8, maxMs: 9.7 },
      conntrack: { entries: 112_840, max: 262_144, insertFailed: 0, earlyDrop: 0, dropped: 0 },
      map,
      dots: { version: this.#dots.version, changed },
      changes: [],
      changesLeftOut: 0,
      isReady: true,
      troubles: [],
      ages: {
        counters: 0,
        countersOver: 1,
        live: 4,
        refused: 0,
        status: 0,
        sharesOver: 30,
        events: 'complete',
      },
      notes: [],
    };
  }

  async dots(): Promise<Dots> {
    return this.#dots;
  }

  async search(query: string): Promise<SearchAnswer> {
    const all = this.#dots.namespaces.flatMap(({ name, services, states }) =>
      services.map((service, at) => ({
        service: `${name}/${service}`,
        state: (states[at] ?? 'q') as DotState,
      })),
    );
    const found = all
      .map((each, index) => ({ ...each, index }))
      .filter(({ service }) => service.includes(query));
    return { query, found: found.slice(0, 50), more: Math.max(0, found.length - 50) };
  }

  async service(name: string): Promise<ServiceAnswer | undefined> {
    const { found } = await this.search(name);
    return found.some(({ service }) => service === name) ? scriptedService(name) : undefined;
  }

  async changes(): Promise<ChangesAnswer> {
    const begunAtMs = NOW_MS - 12 * 86_400_000;
    return {
      run: 'scripted',
      changes: scriptedChanges(),
      begunAtMs,
      completeSinceMs: begunAtMs,
      droppedCount: 0,
    };
  }

  async path({ target }: PathQuestion): Promise<PathAnswer> {
    const found = SCRIPTED_PATHS[target] ?? SCRIPTED_PATHS['shop/web'];
    if (found === undefined) throw new TypeError('no path is scripted');
    return found;
  }

  async doctor(): Promise<DoctorAnswer> {
    return SCRIPTED_DOCTOR;
  }
}

const SCRIPTED_DOCTOR: DoctorAnswer = {
  atMs: NOW_MS,
  verdict: 'problems',
  problems: 1,
  notes: 1,
  passed: 3,
  unasked: 0,
  mode: 'nftables',
  node: 'node1',
  results: [
    { check: 'forwarding', level: 'ok', code: 'OK', what: 'net.ipv4.ip_forward = 1' },
    {
      check: 'reverse path',
      level: 'problem',
      code: 'RP_FILTER',
      what: 'net.ipv4.conf.eth1.rp_filter = 1',
      why: 'packets that come by eth1 are dropped, because the way back to their senders is eth0',
      next: 'set net.ipv4.conf.eth1.rp_filter = 2, or add a route to these senders by eth1',
    },
    {
      check: 'connection table',
      level: 'note',
      code: 'CONNTRACK_FILL',
      what: 'conntrack has 112,840 of 262,144 entries',
      why: 'when it is full, new connections are dropped',
      next: 'raise net.netfilter.nf_conntrack_max before it is full',
    },
    { check: 'routes', level: 'ok', code: 'OK', what: 'a route leads to every endpoint' },
    { check: 'leftovers', level: 'ok', code: 'OK', what: 'no rules of another proxy' },
  ],
  modes: [
    { mode: 'nftables', missing: [] },
    { mode: 'ipvs', missing: ['ip_vs in the kernel'] },
  ],
};
