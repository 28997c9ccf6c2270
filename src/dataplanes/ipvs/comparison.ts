import { type Forwarding, type ServicePortKey, servicePortKey } from '../../forwarding/model.ts';
import type { VirtualServerState } from '../../linux/ipvs/model.ts';
import type { Differences } from '../differences.ts';
import type { CaptureElements } from './capture/model.ts';
import { describeForeign, describeHairpin, describeServer } from './describe.ts';
import type { Knowledge } from './knowledge.ts';
import { isEmptyPlan, planServer, type ServerPlan } from './plan.ts';
import { type ServerState, stateFound } from './server-state.ts';
import { wantedServers } from './wanted.ts';

/** Everything that the kernel has. */
export interface Found {
  readonly servers: ReadonlyMap<string, VirtualServerState>;
  readonly elements: CaptureElements;
}

export interface Compared {
  readonly right: ReadonlySet<ServicePortKey>;
  /** Writes by which what belongs to no row goes. */
  readonly leftovers: readonly ServerPlan[];
}

/** Compares rows with the kernel, and fills `knowledge`, which has only facts before. */
export function compareRows(
  knowledge: Knowledge,
  rows: readonly Forwarding[],
  { found, differences }: { readonly found: Found; readonly differences: Differences },
): Compared {
  knowledge.hairpins.reset(found.elements.hairpin);
  // Whether a node port is served at an address depends on all rows.
  for (const row of rows) knowledge.claims.set(servicePortKey(row.id), row);
  const comparison = new Comparison(knowledge, found, differences);
  const right = new Set<ServicePortKey>();
  for (const row of rows) if (comparison.isRight(row)) right.add(servicePortKey(row.id));
  const leftovers = comparison.leftovers();
  for (const address of knowledge.hairpins.missing()) {
    differences.add(() => describeHairpin('missing', address));
  }
  for (const address of knowledge.hairpins.needless()) {
    differences.add(() => describeHairpin('foreign', address));
  }
  return { right, leftovers };
}

class Comparison {
  readonly #knowledge: Knowledge;
  readonly #found: Found;
  readonly #differences: Differences;
  readonly #wanted = new Set<string>();
  readonly #plans: ServerPlan[] = [];

  constructor(knowledge: Knowledge, found: Found, differences: Differences) {
    this.#knowledge = knowledge;
    this.#found = found;
    this.#differences = differences;
  }

  /** What was found of a row that is not right is noted. */
  isRight(row: Forwarding): boolean {
    const key = servicePortKey(row.id);
    const servers = wantedServers(row, this.#knowledge);
    this.#knowledge.hairpins.set(key, servers);
    const states = new Map<string, ServerState>();
    let isRight = true;
    for (const wanted of servers) {
      if (this.#wanted.has(wanted.id)) continue;
      this.#wanted.add(wanted.id);
      this.#knowledge.owners.set(wanted.id, key);
      const before = this.#stateOf(wanted.id);
      states.set(wanted.id, this.#isDeaf(before) ? this.#passed(key, wanted.id, before) : before);
      const plan = planServer({ id: wanted.id, row: key, before, after: wanted });
      if (isEmptyPlan(plan)) this.#knowledge.draining.set(wanted.id, plan.drain);
      else {
        isRight = false;
        this.#differences.add(() => describeServer({ id: row.id, wanted, before }));
      }
    }
    if (!isRight) this.#knowledge.present.set(key, states);
    return isRight;
  }

  /** Its connections are rejected, until the row is written or nftables has them. */
  #isDeaf({ captured, others }: ServerState): boolean {
    return captured !== undefined && [...others.values()].every((weight) => weight === 0);
  }

  #passed(row: ServicePortKey, id: string, before: ServerState): ServerState {
    const { captured } = before;
    if (captured === undefined) return before;
    this.#plans.push({ id, row, pass: captured, writes: [], stops: [], drain: undefined });
    return { ...before, captured: undefined };
  }

  /**
   * Virtual servers of ours that no row wants; those that only drain go on. And addresses that IPVS
   * is given and cannot serve: the plane behind does, until their rows are written.
   */
  leftovers(): readonly ServerPlan[] {
    const { captured, servers } = this.#found.elements;
    const plans = this.#plans;
    for (const id of new Set([...captured.keys(), ...servers.keys()])) {
      if (this.#wanted.has(id)) continue;
      const plan = planServer({ id, row: '', before: this.#stateOf(id), after: undefined });
      this.#knowledge.draining.set(id, plan.drain);
      if (isEmptyPlan(plan)) continue;
      plans.push(plan);
      this.#differences.add(() => describeForeign(plan));
    }
    return plans;
  }

  #stateOf(id: string): ServerState {
    return stateFound(id, this.#found.servers, this.#found.elements);
  }
}
