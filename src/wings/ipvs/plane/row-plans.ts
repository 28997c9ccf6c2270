import type { RowChange } from '../../../dataplanes/contract.ts';
import { knownRow } from '../../../dataplanes/row-change.ts';
import type { Forwarding, ServicePortKey } from '../../../forwarding/model.ts';
import type { VirtualServerKey } from '../../../linux/ipvs/ipvs-model.ts';
import type { Knowledge } from './ipvs-knowledge.ts';
import { planServer, type ServerPlan } from './server-plan.ts';
import { FOREIGN_SERVER, type ServerState, stateWritten } from './server-state.ts';
import { type Translation, type WantedServer, wantedServers } from './wanted.ts';

/**
 * What was read may be old by now, so it is asked for again. At a start, when all are added, they were
 * read a moment ago.
 */
const MOST_ASKED_AGAIN = 1000;

/** A change of one row as this plane sees it. */
export type PlaneChange = Pick<RowChange, 'key' | 'before' | 'after'>;

export interface RowPlans {
  readonly plans: readonly ServerPlan[];
  /** Every row that is written, also those whose node ports another row's change affects. */
  readonly rows: readonly ServicePortKey[];
  readonly wanted: ReadonlyMap<string, WantedServer>;
  /** To be added where nothing was read just before: another process may have them. */
  readonly unseen: ReadonlyMap<string, VirtualServerKey>;
}

/** Changes of rows with everything that they affect. */
export function planRows(knowledge: Knowledge, changes: readonly PlaneChange[]): RowPlans {
  const all = [...changes, ...affectedNodePorts(knowledge, changes)];
  return planExactly(knowledge, all, knowledge.addresses);
}

/**
 * An address may move from one row to another, so the writes are found for each virtual server and
 * not for each row. From here on the claims are those of the rows afterwards.
 */
export function planExactly(
  knowledge: Knowledge,
  changes: readonly PlaneChange[],
  addresses: Translation['addresses'],
): RowPlans {
  const before = statesBefore(knowledge, changes);
  for (const { key, after } of changes) knowledge.claims.set(key, after);
  const wanted = new Map<string, WantedServer>();
  for (const { key, after } of changes) {
    const all = wantedServers(after, translationAt(addresses, knowledge));
    const servers = knowledge.room.admit(key, all);
    knowledge.hairpins.set(key, servers);
    for (const each of servers) if (!wanted.has(each.id)) wanted.set(each.id, each);
  }
  const plans: ServerPlan[] = [];
  const unseen = new Map<string, VirtualServerKey>();
  const read = new Map<string, VirtualServerKey>();
  const keys = new Set(changes.map(({ key }) => key));
  for (const id of new Set([...before.keys(), ...wanted.keys()])) {
    const was = before.get(id);
    const after = wanted.get(id);
    const owner = knowledge.owners.get(id);
    // A row that was not as applied lost it to another one meanwhile: its note is outdated.
    if (!after && owner !== undefined && owner !== was?.row && !keys.has(owner)) continue;
    const row = after?.row ?? was?.row ?? '';
    const state = was?.state ?? knowledge.draining.stateOfRetired(id);
    const isRejected = knowledge.rejected.has(id);
    plans.push(planServer({ id, row, before: state, after, isRejected }));
    const isAdded = after !== undefined && state.server === undefined;
    if (isAdded && !knowledge.isOurs(id)) (was?.isRead ? read : unseen).set(id, after.server);
  }
  const asked = read.size > MOST_ASKED_AGAIN ? unseen : new Map([...unseen, ...read]);
  return { plans, rows: [...keys], wanted, unseen: asked };
}

/** The same plans, where another process has these virtual servers. */
export function withForeign(rowPlans: RowPlans, foreign: ReadonlySet<string>): RowPlans {
  if (foreign.size === 0) return rowPlans;
  const plans = rowPlans.plans.map((plan) =>
    foreign.has(plan.id) ? planServer({ ...plan.change, before: FOREIGN_SERVER }) : plan,
  );
  return { ...rowPlans, plans };
}

/** With node ports at these addresses. */
export function translationAt(
  addresses: Translation['addresses'],
  { claims, own, scheduler }: Knowledge,
): Translation {
  return { addresses, claims, own, scheduler };
}

/** Rows with node ports at addresses that a frontend now names, or names no longer. */
function affectedNodePorts({ claims }: Knowledge, changes: readonly PlaneChange[]): PlaneChange[] {
  const named = changes.flatMap(({ key, after }) =>
    [claims.row(key), after].filter((row): row is Forwarding => row !== undefined),
  );
  const keys = claims.affectedBy(named).difference(new Set(changes.map(({ key }) => key)));
  return [...keys].flatMap((key) => {
    const row = claims.row(key);
    return row === undefined ? [] : [{ key, before: row, after: row }];
  });
}

interface RowState {
  readonly row: ServicePortKey;
  readonly state: ServerState;
  /** Whether the kernel said so, and not the row. */
  readonly isRead: boolean;
}

/** What was found counts more than what a row says. */
function statesBefore(
  knowledge: Knowledge,
  changes: readonly PlaneChange[],
): Map<string, RowState> {
  const states = new Map<string, RowState>();
  for (const { key, before } of changes) {
    if (knowledge.present.has(key) || knowledge.room.isDeclined(key)) continue;
    for (const each of wantedServers(knownRow(before), knowledge)) {
      states.set(each.id, { row: key, state: stateBefore(knowledge, each), isRead: false });
    }
  }
  for (const { key } of changes) {
    for (const [id, state] of knowledge.present.get(key) ?? []) {
      states.set(id, { row: key, state, isRead: true });
    }
  }
  return states;
}

/** Of a row that was applied: all of it, but for what IPVS rejected. */
function stateBefore({ draining, rejected }: Knowledge, wanted: WantedServer): ServerState {
  if (rejected.has(wanted.id)) return draining.stateOfRetired(wanted.id);
  return stateWritten(wanted, draining.at(wanted.id)?.destinations);
}
