import type { Difference } from '../../../dataplanes/contract.ts';
import type { Differences } from '../../../dataplanes/differences.ts';
import {
  type Forwarding,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
  servicePortName,
} from '../../../forwarding/model.ts';
import type { VirtualServer } from '../../../linux/ipvs/ipvs-model.ts';
import { isMarked } from '../../../linux/ipvs/service-flags.ts';
import type { CapturedFrontend } from './capture/frontend.ts';
import type { Knowledge } from './ipvs-knowledge.ts';
import { isEmptyPlan, planServer, type ServerPlan } from './server-plan.ts';
import {
  destinationId,
  type Found,
  keyOfId,
  type ServerState,
  stateFound,
} from './server-state.ts';
import { type WantedServer, wantedServers } from './wanted.ts';

export interface ToCompare {
  readonly found: Found;
  /** Ours before, whatever the kernel says now. */
  readonly ours: ReadonlySet<string>;
  readonly differences: Differences;
}

export interface Compared {
  readonly right: ReadonlySet<ServicePortKey>;
  /** Of other processes, at addresses that rows want: with the row of each. */
  readonly foreign: ReadonlyMap<string, ServicePortKey>;
  /** Writes by which what belongs to no row goes. */
  readonly leftovers: readonly ServerPlan[];
}

/** Compares rows with the kernel, and fills `knowledge`, which has only facts before. */
export function compareRows(
  knowledge: Knowledge,
  rows: readonly Forwarding[],
  compared: ToCompare,
): Compared {
  const { found, differences } = compared;
  knowledge.hairpins.reset(found.elements.hairpin);
  for (const id of found.elements.rejected.keys()) knowledge.rejected.add(id);
  // Whether a node port is served at an address depends on all rows.
  for (const row of rows) knowledge.claims.set(servicePortKey(row.id), row);
  const comparison = new Comparison(knowledge, compared);
  const right = new Set<ServicePortKey>();
  const later: Forwarding[] = [];
  for (const row of rows) {
    const state = comparison.compare(row, 'there');
    if (state === 'right') right.add(servicePortKey(row.id));
    else if (state === 'not there') later.push(row);
  }
  // What the kernel has keeps its room, whatever comes before it in the order of rows.
  for (const row of later) {
    if (comparison.compare(row, 'any') === 'right') right.add(servicePortKey(row.id));
  }
  const leftovers = comparison.leftovers();
  for (const address of knowledge.hairpins.missing()) {
    differences.add(() => describeHairpin('missing', address));
  }
  for (const address of knowledge.hairpins.needless()) {
    differences.add(() => describeHairpin('foreign', address));
  }
  return { right, leftovers, foreign: comparison.foreign };
}

class Comparison {
  readonly #knowledge: Knowledge;
  readonly #found: Found;
  readonly #ours: ReadonlySet<string>;
  readonly #differences: Differences;
  readonly foreign = new Map<string, ServicePortKey>();
  readonly #wanted = new Set<string>();
  readonly #plans: ServerPlan[] = [];

  constructor(knowledge: Knowledge, { found, ours, differences }: ToCompare) {
    this.#knowledge = knowledge;
    this.#found = found;
    this.#ours = ours;
    this.#differences = differences;
  }

  /** What was found of a row that is wrong is noted. */
  compare(row: Forwarding, which: 'there' | 'any'): 'right' | 'wrong' | 'not there' {
    const key = servicePortKey(row.id);
    const all = wantedServers(row, this.#knowledge);
    const isThere = all.some(({ id }) => this.#found.elements.captured.has(id));
    if (which === 'there' && !isThere && all.length > 0) return 'not there';
    const servers = this.#knowledge.room.admit(key, all, isThere);
    this.#knowledge.hairpins.set(key, servers);
    const states = new Map<string, ServerState>();
    let isRight = true;
    for (const wanted of servers) {
      if (this.#wanted.has(wanted.id)) continue;
      this.#wanted.add(wanted.id);
      const before = this.#stateOf(wanted.id);
      states.set(wanted.id, this.#isDeaf(before) ? this.#passed(key, wanted.id, before) : before);
      if (this.#isServerRight(row, wanted, before)) continue;
      isRight = false;
    }
    if (!isRight) this.#knowledge.present.set(key, states);
    return isRight ? 'right' : 'wrong';
  }

  /**
   * What IPVS rejected is tried again with every full inspection, and no difference until then: the plane
   * behind has it, as our table says.
   */
  #isServerRight(row: Forwarding, wanted: WantedServer, before: ServerState): boolean {
    const { owners, draining, rejected } = this.#knowledge;
    const { id } = wanted;
    const isRejected = rejected.has(id);
    if (before.isForeign) this.foreign.set(id, wanted.row);
    else if (before.server && (!isRejected || before.captured)) owners.set(id, wanted.row);
    const plan = planServer({ id, row: wanted.row, before, after: wanted, isRejected });
    if (isEmptyPlan(plan)) {
      draining.set(id, plan.drain);
      return true;
    }
    if (!isRejected || before.captured) {
      this.#differences.add(() => describeServer({ id: row.id, wanted, before }));
    }
    return false;
  }

  /** Its connections are rejected, until the row is written or nftables has them. */
  #isDeaf({ captured, others }: ServerState): boolean {
    return captured !== undefined && [...others.values()].every((weight) => weight === 0);
  }

  #passed(row: ServicePortKey, id: string, before: ServerState): ServerState {
    const { captured } = before;
    if (captured === undefined) return before;
    const isRejected = this.#knowledge.rejected.has(id);
    const change = { id, row, before, after: undefined, isRejected };
    this.#plans.push({ id, row, change, pass: captured, writes: [], stops: [], drain: undefined });
    return { ...before, captured: undefined };
  }

  /**
   * Virtual servers of ours that no row wants; those that only drain go on. And addresses that IPVS
   * is given and cannot serve: the plane behind does, until their rows are written.
   */
  leftovers(): readonly ServerPlan[] {
    const { captured, servers, rejected } = this.#found.elements;
    const plans = this.#plans;
    const lost = [...this.#found.servers].filter(
      ([id, { server }]) => this.#ours.has(id) || isMarked(server),
    );
    const lostIds = lost.map(([id]) => id);
    const all = [...captured.keys(), ...servers.keys(), ...rejected.keys(), ...lostIds];
    for (const id of new Set(all)) {
      if (this.#wanted.has(id)) continue;
      const before = this.#stateOf(id);
      const isRejected = rejected.has(id);
      const isOwn = this.#knowledge.own.has(keyOfId(id).address);
      const plan = planServer({ id, row: '', before, after: undefined, isRejected, isOwn });
      this.#knowledge.draining.set(id, plan.drain);
      if (isEmptyPlan(plan)) continue;
      plans.push(plan);
      this.#differences.add(() => describeForeign(plan));
    }
    return plans;
  }

  #stateOf(id: string): ServerState {
    return stateFound(id, this.#found, (each) => this.#ours.has(each));
  }
}

/** So many destinations of a virtual server are described. */
const MOST_LINES = 20;

interface Differing {
  readonly id: ServicePortId;
  readonly wanted: WantedServer;
  readonly before: ServerState;
}

function describeServer({ id, wanted, before }: Differing): Difference {
  const object = `ipvs virtual server ${wanted.id}`;
  const service = servicePortName(id);
  if (before.server === undefined) return { kind: 'missing', object, service };
  const weights = new Map(
    wanted.endpoints.map((endpoint) => [destinationId(endpoint), wanted.weight]),
  );
  const drops = [...before.others].filter(([each, weight]) => weight !== 0 || weights.has(each));
  return {
    kind: 'different',
    object,
    service,
    wanted: linesOf(wanted.server, weights, { captured: wanted.captured, isListed: true }),
    found: linesOf(before.server, new Map(drops), before),
  };
}

function describeForeign({ id, stops, pass }: ServerPlan): Difference {
  const what = pass || stops.length > 0 ? 'virtual server' : 'mark of a virtual server';
  return { kind: 'foreign', object: `ipvs ${what} ${id}` };
}

function describeHairpin(kind: 'missing' | 'foreign', address: string): Difference {
  return { kind, object: `ipvs hairpin address ${address}` };
}

function linesOf(
  { scheduler, schedulerFlags, persistenceSeconds }: VirtualServer,
  weights: ReadonlyMap<string, number>,
  frontend: { readonly captured: CapturedFrontend | undefined; readonly isListed: boolean },
): string[] {
  const flags = schedulerFlags.length === 0 ? '' : ` ${schedulerFlags.join()}`;
  const persistence = persistenceSeconds === 0 ? '' : ` persistent ${persistenceSeconds}`;
  const lines = [...weights].map(([id, weight]) => `destination ${id} weight ${weight}`).sort();
  const more = lines.length - MOST_LINES;
  return [
    `scheduler ${scheduler}${flags}${persistence}`,
    ...lines.slice(0, MOST_LINES),
    ...(more > 0 ? [`and ${more} more destinations`] : []),
    ...captureLines(frontend.captured),
    ...(frontend.isListed ? [] : ['not marked as ours']),
  ];
}

function captureLines(captured: CapturedFrontend | undefined): string[] {
  if (captured === undefined) return ['captured from no source'];
  const { pod, host, outside } = captured.capture;
  return [`pod: ${pod}, host: ${host}, outside: ${outside}`];
}
