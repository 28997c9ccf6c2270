import type { Forwarding, ServicePortKey } from '../../forwarding/model.ts';
import type { RowChange } from '../contract.ts';
import { knownRow } from '../row-change.ts';
import type { Knowledge } from './knowledge.ts';
import { planServer, type ServerPlan } from './plan.ts';
import { type ServerState, stateWritten } from './server-state.ts';
import { type Translation, type WantedServer, wantedServers } from './wanted.ts';

/** A change of one row as this plane sees it. */
export type PlaneChange = Pick<RowChange, 'key' | 'before' | 'after'>;

export interface RowPlans {
  readonly plans: readonly ServerPlan[];
  /** Every row that is written, also those whose node ports another row's change affects. */
  readonly rows: readonly ServicePortKey[];
  readonly wanted: ReadonlyMap<string, WantedServer>;
}

/**
 * An address may move from one row to another, so the writes are found for each virtual server and
 * not for each row. From here on the claims are those of the rows afterwards.
 */
export function planRows(
  knowledge: Knowledge,
  changes: readonly PlaneChange[],
  addresses: Translation['addresses'] = knowledge.addresses,
): RowPlans {
  const all = [...changes, ...affectedNodePorts(knowledge, changes)];
  const before = statesBefore(knowledge, all);
  for (const { key, after } of all) knowledge.claims.set(key, after);
  const { claims, scheduler, missingSchedulers } = knowledge;
  const wanted = new Map<string, WantedServer>();
  for (const { key, after } of all) {
    const servers = wantedServers(after, { claims, scheduler, addresses, missingSchedulers });
    knowledge.hairpins.set(key, servers);
    for (const each of servers) if (!wanted.has(each.id)) wanted.set(each.id, each);
  }
  const plans: ServerPlan[] = [];
  const keys = new Set(all.map(({ key }) => key));
  for (const id of new Set([...before.keys(), ...wanted.keys()])) {
    const was = before.get(id);
    const after = wanted.get(id);
    const owner = knowledge.owners.get(id);
    // A row that was not as applied lost it to another one meanwhile: its note is outdated.
    if (!after && owner !== undefined && owner !== was?.row && !keys.has(owner)) continue;
    const row = after?.row ?? was?.row ?? '';
    const state = was?.state ?? knowledge.draining.stateOfRetired(id);
    plans.push(planServer({ id, row, before: state, after }));
  }
  return { plans, rows: all.map(({ key }) => key), wanted };
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
}

/** What was found counts more than what a row says. */
function statesBefore(
  knowledge: Knowledge,
  changes: readonly PlaneChange[],
): Map<string, RowState> {
  const { present, draining } = knowledge;
  const states = new Map<string, RowState>();
  for (const { key, before } of changes) {
    if (present.has(key)) continue;
    for (const each of wantedServers(knownRow(before), knowledge)) {
      const state = stateWritten(each, draining.at(each.id)?.destinations);
      states.set(each.id, { row: key, state });
    }
  }
  for (const { key } of changes) {
    for (const [id, state] of present.get(key) ?? []) states.set(id, { row: key, state });
  }
  return states;
}
