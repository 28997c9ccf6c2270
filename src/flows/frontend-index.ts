import {
  type Forwarding,
  type Protocol,
  type ServicePortKey,
  servicePortKey,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import {
  type EndpointKey,
  endpointKeys,
  type FlowTarget,
  type FrontendKey,
  targetKey,
  targetOf,
} from './flow-keys.ts';
import { addNeed, type Needs } from './needs.ts';

type Targets = ReadonlyMap<FrontendKey, FlowTarget>;
const NO_TARGETS: Targets = new Map();

/** An established TCP connection outlives its endpoint, as with kube-proxy: rows of TCP are ignored. */
const PROTOCOLS: ReadonlySet<Protocol> = new Set<Protocol>(['UDP', 'SCTP']);

/** The frontends that the kernel has acknowledged. */
export class FrontendIndex {
  readonly #rows = new Map<ServicePortKey, Forwarding>();
  readonly #owners = new Map<FrontendKey, ServicePortKey>();

  /** The owner of a frontend, if any. */
  owner(key: FrontendKey): Forwarding | undefined {
    const row = this.#owners.get(key);
    return row === undefined ? undefined : this.#rows.get(row);
  }

  /** Applies changes; returns the frontends whose flows may be stale because of them. */
  acknowledge(changes: readonly Change[]): Needs {
    const needs: Needs = new Map();
    const concerning = changes.flatMap(({ key, before, after }) => {
      // A change does not always name the row as it was: after a rejected write that is unknown.
      const known = this.#rows.get(key) ?? before;
      const row = after ?? known;
      if (row === undefined || !PROTOCOLS.has(row.id.protocol)) return [];
      return [{ key, before: known, after }];
    });
    // Rows that share their frontends differ in endpoints only: no frontend moves.
    const moved = concerning.filter(
      ({ key, before, after }) =>
        before === undefined || before.frontends !== after?.frontends || !this.#rows.has(key),
    );
    // A frontend may move from one row to another: remove all first.
    for (const { key, before } of moved) this.#withdraw(key, before);
    for (const { key, after } of moved) this.#enter(key, after);
    for (const { key, after } of concerning) if (after !== undefined) this.#rows.set(key, after);
    for (const change of concerning) collectNeeds(change, needs);
    return needs;
  }

  /** Replaces all rows; returns every frontend, including removed ones. */
  adopt(rows: Iterable<Forwarding>): Needs {
    const left = new Map(this.#rows);
    const changes: Change[] = [];
    for (const after of rows) {
      if (!PROTOCOLS.has(after.id.protocol)) continue;
      const key = servicePortKey(after.id);
      changes.push({ key, before: undefined, after });
      left.delete(key);
    }
    for (const [key, before] of left) changes.push({ key, before, after: undefined });
    const needs = this.acknowledge(changes);
    for (const [key, need] of this.everything()) addNeed(needs, key, need);
    return needs;
  }

  everything(): Needs {
    const needs: Needs = new Map();
    for (const row of this.#rows.values()) {
      for (const [key, target] of targetsOf(row)) {
        addNeed(needs, key, { target, id: row.id, former: new Set() });
      }
    }
    return needs;
  }

  #withdraw(key: ServicePortKey, row: Forwarding | undefined): void {
    this.#rows.delete(key);
    for (const frontend of targetsOf(row).keys()) {
      if (this.#owners.get(frontend) === key) this.#owners.delete(frontend);
    }
  }

  #enter(key: ServicePortKey, row: Forwarding | undefined): void {
    if (row === undefined) return;
    this.#rows.set(key, row);
    for (const frontend of targetsOf(row).keys()) this.#owners.set(frontend, key);
  }
}

/** A frontend that belongs to an older Service is not served. */
function targetsOf(row: Forwarding | undefined): Targets {
  if (row === undefined) return NO_TARGETS;
  const targets = new Map<FrontendKey, FlowTarget>();
  for (const frontend of row.frontends) {
    const target = frontend.notServed === undefined ? targetOf(row, frontend) : undefined;
    if (target) targets.set(targetKey(target), target);
  }
  return targets;
}

/**
 * Flows can be stale at a frontend that has gone, at one that is new, as packets may have come
 * before it, and at one that lost an endpoint or got its first. One more endpoint, another policy
 * or another timeout make no flow stale.
 */
function collectNeeds({ before, after }: Omit<Change, 'key'>, needs: Needs): void {
  const had = endpointKeys(before);
  const has = endpointKeys(after);
  const lost = had.difference(has);
  const isFirst = had.size === 0 && has.size > 0;
  if (before?.frontends === after?.frontends && lost.size === 0 && !isFirst) return;
  const [from, to] = [targetsOf(before), targetsOf(after)];
  const need = (targets: Targets, former: ReadonlySet<EndpointKey>) => {
    const { id } = (after ?? before) as Forwarding;
    for (const [key, target] of targets) addNeed(needs, key, { target, id, former });
  };
  need(without(from, to), had);
  need(without(to, from), new Set());
  if (lost.size > 0 || isFirst) need(without(to, without(to, from)), lost);
}

function without(targets: Targets, others: Targets): Targets {
  return new Map([...targets].filter(([key]) => !others.has(key)));
}
