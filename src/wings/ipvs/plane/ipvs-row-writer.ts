import { PlaneError, type RowChange } from '../../../dataplanes/contract.ts';
import { type Forwarding, type ServicePortKey, servicePortKey } from '../../../forwarding/model.ts';
import type { IpvsRejection } from '../../../linux/ipvs/ipvs-model.ts';
import { readEverything } from './inspect-ipvs.ts';
import type { Knowledge, ServerStates } from './ipvs-knowledge.ts';
import type { NodePortAddresses } from './ipvs-node-port-addresses.ts';
import { asPlaneError, rejectionError } from './ipvs-rejection.ts';
import { type Kernel, perform, type Rejections, rowsOf } from './ipvs-writer.ts';
import { isSurprise, type RejectionWarnings } from './rejected-servers.ts';
import {
  type PlaneChange,
  planExactly,
  planRows,
  type RowPlans,
  translationAt,
  withForeign,
} from './row-plans.ts';
import { planRejected, type ServerPlan } from './server-plan.ts';
import { type ServerState, stateFound, stateWritten } from './server-state.ts';
import { wantedServers } from './wanted.ts';

export interface RowWriterParts {
  readonly kernel: Kernel;
  readonly knowledge: Knowledge;
  readonly warnings: RejectionWarnings;
  /** Requests an inspection. */
  readonly report: (what: string, isOwn?: true) => void;
}

/** `read`: by what the kernel has, so that a rejection contradicts nothing that was known. */
type Basis = 'known' | 'read';

/**
 * Writes changes of rows, and keeps `Knowledge` in step. A virtual server that IPVS rejects, or that
 * another process has, is left to the plane behind, and the row is applied nevertheless.
 */
export class RowWriter {
  readonly #kernel: Kernel;
  readonly #knowledge: Knowledge;
  readonly #warnings: RejectionWarnings;
  readonly #report: RowWriterParts['report'];

  constructor({ kernel, knowledge, warnings, report }: RowWriterParts) {
    this.#kernel = kernel;
    this.#knowledge = knowledge;
    this.#warnings = warnings;
    this.#report = report;
  }

  /** What contradicts the kernel's state is planned once more, after a read. */
  async apply(changes: readonly RowChange[]): Promise<void> {
    try {
      await this.#plan(changes, 'known');
    } catch (error) {
      if (!isNotAsBelieved(error)) throw error;
      await this.#plan(changes, 'read');
    }
  }

  /** Rows stay as they are, and their node ports move to other addresses. */
  async move(changes: readonly PlaneChange[], addresses: NodePortAddresses): Promise<void> {
    await this.#readDoubtful();
    await this.#write(planExactly(this.#knowledge, changes, addresses), [], 'read');
  }

  /** Some of these rows have moved, and the others will not: all are read before their next write. */
  doubtMoved(rows: readonly Forwarding[], addresses: NodePortAddresses): void {
    const elsewhere = translationAt(addresses, this.#knowledge);
    for (const row of rows) {
      const servers = [...wantedServers(row, this.#knowledge), ...wantedServers(row, elsewhere)];
      const ids = servers.map(({ id }) => id);
      this.#doubtServers(servicePortKey(row.id), ids);
    }
  }

  async #plan(changes: readonly RowChange[], basis: Basis): Promise<void> {
    await this.#readDoubtful();
    await this.#write(planRows(this.#knowledge, changes), changes, basis);
  }

  /**
   * Asked before our table says that they are ours: ended in between, the next process would take them
   * for its own.
   */
  async #withoutForeign(rowPlans: RowPlans): Promise<RowPlans> {
    if (rowPlans.unseen.size === 0) return rowPlans;
    return withForeign(rowPlans, await this.#kernel.ipvs.existing([...rowPlans.unseen.values()]));
  }

  async #write(planned: RowPlans, changes: readonly PlaneChange[], basis: Basis): Promise<void> {
    const { rows } = planned;
    try {
      await this.#perform(await this.#withoutForeign(planned), basis);
    } catch (error) {
      this.#doubt(planned.plans, error);
      if (isNotAsBelieved(error))
        this.#report('IPVS or its tables were changed by another process');
      else if (rows.length > changes.length)
        this.#report('a row with node ports is in doubt', true);
      throw error;
    }
    this.#settle(planned, changes);
  }

  async #perform(rowPlans: RowPlans, basis: Basis): Promise<void> {
    const { plans } = rowPlans;
    const rejections = await perform(this.#kernel, plans);
    this.#reportSurprise(rejections, { plans, basis });
    this.#note(rowPlans, plans);
    await this.#leaveRejected(rowPlans, rejections);
  }

  #reportSurprise(
    rejections: Rejections,
    { plans, basis }: { readonly plans: readonly ServerPlan[]; readonly basis: Basis },
  ): void {
    const all = [...rejections].flatMap(([plan, each]) => {
      const isOurs = this.#knowledge.isOurs(plan.id);
      return each
        .filter((rejection) => isSurprise(rejection, isOurs))
        .map((r) => [plan, r] as const);
    });
    const [first, ...more] = all;
    if (first === undefined) return;
    if (basis === 'read') {
      this.#report('IPVS is being changed by another process');
      return;
    }
    const [{ row: culprit }, rejection] = first;
    const texts: [IpvsRejection, ...IpvsRejection[]] = [rejection, ...more.map(([, each]) => each)];
    throw rejectionError(texts, { culprit, unknown: rowsOf(plans) });
  }

  async #leaveRejected(rowPlans: RowPlans, rejections: Rejections): Promise<void> {
    const foreign = rowPlans.plans.filter(({ change }) => change.before.isForeign && change.after);
    this.#warnings.foreign(new Map(foreign.map(({ id, row }) => [id, row])));
    if (rejections.size === 0) return;
    this.#warnings.rejected(rejections);
    const left = [...rejections].map(([plan, each]) =>
      planRejected(plan, new Set(each.map(({ write }) => write))),
    );
    // What is rejected now gets no connections in any case; the drainer tries it again.
    try {
      await perform(this.#kernel, left);
    } catch (error) {
      // The other plans are written already, and the caller does not know it.
      throw asPlaneError(error, rowsOf(rowPlans.plans));
    }
    this.#note(rowPlans, left);
  }

  #note({ wanted }: RowPlans, plans: readonly ServerPlan[]): void {
    const { draining, owners, rejected } = this.#knowledge;
    for (const { id, drain } of plans) {
      draining.set(id, drain);
      const row = rejected.has(id) ? undefined : wanted.get(id)?.row;
      if (row === undefined) owners.delete(id);
      else owners.set(id, row);
    }
  }

  #settle(rowPlans: RowPlans, changes: readonly PlaneChange[]): void {
    const { present, doubtful } = this.#knowledge;
    const asked = new Set(changes.map(({ key }) => key));
    for (const key of rowPlans.rows) {
      doubtful.delete(key);
      if (asked.has(key)) present.delete(key);
      else if (present.has(key)) present.set(key, this.#statesWritten(rowPlans, key));
    }
  }

  /** The caller did not ask for this row, and takes it for unknown still. */
  #statesWritten({ plans, wanted }: RowPlans, key: ServicePortKey): ServerStates {
    const { draining, rejected } = this.#knowledge;
    const states = new Map<string, ServerState>();
    for (const { id, drain } of plans) {
      const server = wanted.get(id);
      if (server?.row !== key) continue;
      const isLeft = rejected.has(id);
      states.set(
        id,
        isLeft ? draining.stateOfRetired(id) : stateWritten(server, drain?.destinations),
      );
    }
    return states;
  }

  /** There is no transaction: what the kernel has of these rows is read before their next write. */
  #doubt(plans: readonly ServerPlan[], error: unknown): void {
    const unknown = error instanceof PlaneError ? error.unknown : undefined;
    const { present } = this.#knowledge;
    for (const { id, row } of plans) {
      if (unknown?.has(row) !== false) this.#doubtServers(row, [id]);
    }
    // Others may have notes about the same virtual servers: one read renews them all.
    for (const [row, states] of present) this.#doubtServers(row, states.keys());
    this.#kernel.print.forget();
  }

  #doubtServers(row: ServicePortKey, ids: Iterable<string>): void {
    const { doubtful } = this.#knowledge;
    const known = doubtful.get(row) ?? new Set();
    for (const id of ids) known.add(id);
    doubtful.set(row, known);
  }

  async #readDoubtful(): Promise<void> {
    const { doubtful, present, hairpins, rejected } = this.#knowledge;
    if (doubtful.size === 0) return;
    const found = await readEverything(this.#kernel);
    hairpins.noteFound(found.elements.hairpin);
    rejected.clear();
    for (const id of found.elements.rejected.keys()) rejected.add(id);
    const isOurs = (id: string): boolean => this.#knowledge.isOurs(id);
    for (const [key, ids] of doubtful) {
      const states = [...ids].map((id) => [id, stateFound(id, found, isOurs)] as const);
      present.set(key, new Map(states));
    }
    doubtful.clear();
  }
}

/** Codes of rejections that say that something is not there, or is there already. */
const NOT_AS_BELIEVED = new Set([
  ...['IPVS_ESRCH', 'IPVS_EEXIST', 'IPVS_ENOENT'],
  ...['NFT_ENOENT', 'NFT_EEXIST'],
]);

function isNotAsBelieved(error: unknown): boolean {
  return error instanceof PlaneError && NOT_AS_BELIEVED.has(error.code);
}
