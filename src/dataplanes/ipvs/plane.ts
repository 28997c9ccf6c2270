import { type Forwarding, type ServicePortKey, servicePortKey } from '../../forwarding/model.ts';
import type {
  FingerprintExtent,
  IpvsFingerprint,
  VirtualServerKey,
} from '../../linux/ipvs/model.ts';
import type {
  Attachment,
  DataPlane,
  Desired,
  Difference,
  Drift,
  EndpointCount,
  Holding,
  Inspection,
  InspectionDepth,
  IpvsReport,
  KernelFrontend,
  NodeFacts,
  RowChange,
} from '../contract.ts';
import { PlaneError } from '../contract.ts';
import { captureMark } from './capture/marks.ts';
import { deleteDrained } from './drainer.ts';
import { ExpectedPrint } from './expected-print.ts';
import { diffEverything, inspectEverything, readEverything } from './inspect.ts';
import { Knowledge, type ServerStates } from './knowledge.ts';
import { nodePortAddresses } from './node-port-addresses.ts';
import type { IpvsPlaneOptions } from './options.ts';
import { asPlaneError, notInspected } from './refusal.ts';
import { removeEverything, retireEverything, setTimeouts } from './removal.ts';
import { readCounters, reportOf } from './report.ts';
import { type PlaneChange, planRows, type RowPlans } from './row-plans.ts';
import { type ServerState, stateFound, stateWritten } from './server-state.ts';
import { Turns } from './turns.ts';
import { watchIpvs } from './watch.ts';
import { type Kernel, perform, writeInParts } from './writer.ts';

/**
 * The data plane of IPVS: a virtual server for each address, and tables that give IPVS the connections
 * of the source classes whose outcome is one list. All others pass, so another plane must stand behind.
 */
export class IpvsPlane implements DataPlane {
  readonly mode = 'ipvs';
  readonly #options: IpvsPlaneOptions;
  readonly #knowledge: Knowledge;
  readonly #kernel: Kernel;
  readonly #turns = new Turns();
  /** Something has changed that only a full inspection can tell. */
  #isReported = false;
  #onDrift: ((drift: Drift) => void) | undefined;

  constructor(options: IpvsPlaneOptions) {
    this.#options = options;
    this.#knowledge = new Knowledge(options.scheduler);
    const { ipvs, capture } = options;
    const { hairpins } = this.#knowledge;
    const print = new ExpectedPrint();
    const onMissingScheduler = (name: string): void => this.#noteMissing(name);
    this.#kernel = { ipvs, capture, hairpins, print, onMissingScheduler };
  }

  async inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
    return await this.#turn(async () => {
      const isReported = this.#options.capture.takeReported() || this.#isReported;
      this.#isReported = true;
      const isEnough = depth === 'reported' && !isReported && this.#knowledge.isCertain;
      const inspection = isEnough
        ? await this.#assume(desired)
        : await this.#inspectEverything(desired);
      this.#isReported = false;
      return inspection;
    });
  }

  async configure(facts: NodeFacts): Promise<void> {
    await this.#turn(async () => await this.#configure(facts));
  }

  async apply(changes: readonly RowChange[]): Promise<void> {
    if (!this.#knowledge.facts) throw notInspected();
    await this.#turn(async () => {
      await this.#applyOrPass(changes);
    });
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    try {
      return (await diffEverything(this.#options, desired)).described;
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    this.#onDrift = onDrift;
    const watched = {
      capture: this.#options.capture,
      deleteDrained: () => this.deleteDrained(),
      compareBegin: () => this.#compareBegin(),
      compareWhole: () => this.#compareWhole(),
    };
    await watchIpvs(watched, onDrift, signal);
  }

  /** One pass, as `watch` makes one every second: deletes what has no connection left. */
  async deleteDrained(): Promise<void> {
    if (this.#knowledge.draining.isEmpty) return;
    await this.#turn(() => deleteDrained(this.#kernel, this.#knowledge));
  }

  async counters(rows?: readonly Forwarding[]): Promise<readonly EndpointCount[]> {
    const wanted = rows && new Set(rows.map(({ id }) => servicePortKey(id)));
    const all = [...this.#knowledge.owners];
    // A copy: rows may be written meanwhile.
    const owners = new Map(wanted ? all.filter(([, key]) => wanted.has(key)) : all);
    return owners.size === 0 ? [] : await readCounters(this.#options.ipvs, owners);
  }

  async adopt(servers: readonly VirtualServerKey[]): Promise<void> {
    const { facts } = this.#knowledge;
    if (!facts) throw notInspected();
    if (servers.length === 0) return;
    const { capture, markConnections } = this.#options;
    await this.#turn(async () => {
      await writeInParts(
        capture,
        servers.map((server) => ({ serversAdd: [server] })),
      );
      await markConnections?.(servers, captureMark(facts.masqueradeMark));
    });
    this.#report('virtual servers of kube-proxy were adopted', true);
  }

  async attachments(): Promise<readonly Attachment[]> {
    if (this.#knowledge.facts) return await this.#options.capture.attachments();
    // It could not be set up, as on a kernel without IPVS.
    return [{ place: 'ipvs', name: 'virtual servers', isAttached: false }];
  }

  async ipvs(): Promise<IpvsReport> {
    return reportOf(await readEverything(this.#options));
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    const { captured } = await this.#options.capture.read();
    return [...captured.values()].map(({ protocol, address, port }) => ({
      protocol,
      address,
      port,
    }));
  }

  async inventory(): Promise<readonly Holding[]> {
    const { capture } = this.#options;
    const holdings = await capture.inventory();
    const { size: count } = (await capture.read()).servers;
    return count === 0 ? holdings : [{ what: 'virtual servers', count }, ...holdings];
  }

  async remove(): Promise<void> {
    await this.#turn(async () => {
      await removeEverything(this.#options);
      this.#forget();
    });
  }

  async retire(): Promise<'draining' | 'removed'> {
    return await this.#turn(async () => {
      this.#forget();
      return await retireEverything(this.#options);
    });
  }

  #forget(): void {
    this.#knowledge.forget();
    this.#kernel.print.forget();
  }

  async #inspectEverything(desired: Desired): Promise<Inspection> {
    // Loads the kernel module, without which there are no settings of it.
    await setTimeouts(this.#options);
    await this.#options.prepare();
    return await inspectEverything(this.#kernel, this.#knowledge, desired);
  }

  async #assume({ facts, rows }: Desired): Promise<Inspection> {
    await this.#configure(facts);
    const right = new Set(rows.map(({ id }) => servicePortKey(id)));
    return { right, differences: [], differenceCount: 0, writeCount: 0 };
  }

  async #configure(facts: NodeFacts): Promise<void> {
    const { claims, facts: before } = this.#knowledge;
    if (!before) throw notInspected();
    await this.#options.capture.configure(facts);
    const addresses = nodePortAddresses(facts);
    if (!isSame(addresses, this.#knowledge.addresses)) {
      const changes = [...claims.rowsWithNodePorts()].map(
        (row): PlaneChange => ({ key: servicePortKey(row.id), before: row, after: row }),
      );
      await this.#readDoubtful();
      await this.#write(planRows(this.#knowledge, changes, addresses), []);
    }
    this.#knowledge.setFacts(facts);
  }

  /**
   * Rows whose scheduler the kernel does not have are planned again: they are left to the plane behind.
   * So are rows, once, that meet what another process wrote, such as a virtual server at their address.
   */
  async #applyOrPass(changes: readonly RowChange[]): Promise<void> {
    const { missingSchedulers } = this.#knowledge;
    for (let tries = 1; ; tries++) {
      const known = missingSchedulers.size;
      await this.#readDoubtful();
      try {
        await this.#write(planRows(this.#knowledge, changes), changes);
        return;
      } catch (error) {
        const isFirst = tries === 1 && isNotAsBelieved(error);
        if (missingSchedulers.size === known && !isFirst) throw error;
      }
    }
  }

  #noteMissing(name: string): void {
    if (this.#knowledge.missingSchedulers.has(name)) return;
    this.#knowledge.missingSchedulers.add(name);
    this.#options.onWarning?.(
      `the kernel has no IPVS scheduler ${name}; its Services are served by the rules behind IPVS. ` +
        `Next: load the module ip_vs_${name}, or choose another scheduler`,
    );
  }

  async #write(of: RowPlans, changes: readonly PlaneChange[]): Promise<void> {
    const { plans, rows, wanted } = of;
    const { draining, owners, present, doubtful } = this.#knowledge;
    try {
      await perform(this.#kernel, plans);
    } catch (error) {
      this.#doubt(plans, error);
      if (isNotAsBelieved(error))
        this.#report('IPVS or its tables were changed by another process');
      else if (rows.length > changes.length)
        this.#report('a row with node ports is in doubt', true);
      throw error;
    }
    for (const { id, drain } of plans) {
      draining.set(id, drain);
      const row = wanted.get(id)?.row;
      if (row === undefined) owners.delete(id);
      else owners.set(id, row);
    }
    const asked = new Set(changes.map(({ key }) => key));
    for (const key of rows) {
      doubtful.delete(key);
      if (asked.has(key)) present.delete(key);
      else if (present.has(key)) present.set(key, statesWritten(of, key));
    }
  }

  /** There is no transaction: what the kernel has of these rows is read before their next write. */
  #doubt(plans: RowPlans['plans'], error: unknown): void {
    const unknown = error instanceof PlaneError ? error.unknown : undefined;
    const { doubtful, present } = this.#knowledge;
    for (const { id, row } of plans) {
      if (unknown?.has(row) === false) continue;
      doubtful.set(row, new Set([...(doubtful.get(row) ?? []), id]));
    }
    // Others may have notes about the same virtual servers: one read renews them all.
    for (const [row, states] of present) {
      doubtful.set(row, new Set([...(doubtful.get(row) ?? []), ...states.keys()]));
    }
    this.#kernel.print.forget();
  }

  async #readDoubtful(): Promise<void> {
    const { doubtful, present, hairpins } = this.#knowledge;
    if (doubtful.size === 0) return;
    const found = await readEverything(this.#options);
    hairpins.noteFound(found.elements.hairpin);
    for (const [key, ids] of doubtful) {
      const states = [...ids].map(
        (id) => [id, stateFound(id, found.servers, found.elements)] as const,
      );
      present.set(key, new Map(states));
    }
    doubtful.clear();
  }

  /** Whether it could compare: not while rows are written. */
  async #compareBegin(): Promise<boolean> {
    const begin = await this.#fingerprint('begin');
    if (begin === undefined) return false;
    if (this.#kernel.print.isForeignBegin(begin) && !(await this.#isOfDrained())) this.#lost();
    return true;
  }

  async #compareWhole(): Promise<boolean> {
    const found = await this.#fingerprint('whole');
    if (found === undefined) return false;
    const { print } = this.#kernel;
    if (print.isForeign(found) && !(await this.#isOfDrained())) this.#lost();
    return true;
  }

  /** Whether destinations that drain were deleted meanwhile: for UDP flows, or by this very pass. */
  async #isOfDrained(): Promise<boolean> {
    const { print } = this.#kernel;
    const { generation } = print;
    await this.deleteDrained();
    if (generation === print.generation) return false;
    const again = await this.#fingerprint('whole');
    return again === undefined || !print.isForeign(again);
  }

  #lost(): void {
    this.#kernel.print.forget();
    this.#report('virtual servers of IPVS were changed by another process');
  }

  /** Undefined: nothing was inspected yet, or a write of ours came between. */
  async #fingerprint(of: FingerprintExtent): Promise<IpvsFingerprint | undefined> {
    const { print, ipvs } = this.#kernel;
    const { generation } = print;
    if (!this.#knowledge.facts) return undefined;
    try {
      const found = await ipvs.fingerprint(of);
      return generation === print.generation ? found : undefined;
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  #report(what: string, isOwn?: true): void {
    this.#isReported = true;
    this.#onDrift?.({ what, ...(isOwn ? { isOwn } : {}) });
  }

  async #turn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#turns.run(work);
    } catch (error) {
      throw asPlaneError(error);
    }
  }
}

/** Codes of rejections that say that something is not there, or is there already. */
const NOT_AS_BELIEVED = new Set(['IPVS_ESRCH', 'IPVS_EEXIST', 'NFT_ENOENT', 'NFT_EEXIST']);

function isNotAsBelieved(error: unknown): boolean {
  return error instanceof PlaneError && NOT_AS_BELIEVED.has(error.code);
}

/** The caller did not ask for this row, and takes it for unknown still. */
function statesWritten({ plans, wanted }: RowPlans, key: ServicePortKey): ServerStates {
  const states = new Map<string, ServerState>();
  for (const { id, drain } of plans) {
    const server = wanted.get(id);
    if (server?.row === key) states.set(id, stateWritten(server, drain?.destinations));
  }
  return states;
}

type Addresses = ReturnType<typeof nodePortAddresses>;

function isSame(a: Addresses, b: Addresses): boolean {
  return a.IPv4.join() === b.IPv4.join() && a.IPv6.join() === b.IPv6.join();
}
