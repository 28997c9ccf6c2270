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
  KernelFrontend,
  NodeFacts,
  Readers,
  ReadingKey,
  Readings,
  RowChange,
} from '../../../dataplanes/contract.ts';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import type { VirtualServerKey } from '../../../linux/ipvs/ipvs-model.ts';
import { captureMark } from './capture/marks.ts';
import { DrainPasses } from './drain-passes.ts';
import { deleteDrained } from './drainer.ts';
import { ExpectedPrint } from './expected-print.ts';
import { diffEverything, inspectEverything, readEverything } from './inspect-ipvs.ts';
import { Knowledge } from './ipvs-knowledge.ts';
import { type NodePortAddresses, nodePortAddresses } from './ipvs-node-port-addresses.ts';
import type { IpvsPlaneOptions } from './ipvs-options.ts';
import { asPlaneError, notInspected } from './ipvs-rejection.ts';
import { type IpvsReport, readCounters, reportOf } from './ipvs-report.ts';
import { RowWriter } from './ipvs-row-writer.ts';
import { watchIpvs } from './ipvs-watch.ts';
import { type Kernel, writeInParts } from './ipvs-writer.ts';
import { withMarks } from './other-mark.ts';
import { ownNow } from './own-service-addresses.ts';
import { PrintWatch } from './print-watch.ts';
import { RejectionWarnings } from './rejected-servers.ts';
import { ownServers, removeEverything, retireEverything, setTimeouts } from './remove-ipvs.ts';

const ROWS_AT_ONCE = 100;

/**
 * The data plane of IPVS: a virtual server for each address, and tables that give IPVS the connections
 * of the source classes whose outcome is one list. All others pass, so another plane must stand behind.
 */
export class IpvsPlane implements DataPlane {
  readonly mode = 'ipvs';
  readonly #options: IpvsPlaneOptions;
  readonly #knowledge: Knowledge;
  readonly #kernel: Kernel;
  readonly #warnings: RejectionWarnings;
  readonly #writer: RowWriter;
  readonly #drain: DrainPasses;
  readonly #prints: PrintWatch;
  readonly #turns = new Turns();
  /** Virtual servers that were ours before an inspection that has not ended. */
  #ours: ReadonlySet<string> = new Set();
  /** Something has changed that only a full inspection can tell. */
  #isReported = false;
  #onDrift: ((drift: Drift) => void) | undefined;

  constructor(options: IpvsPlaneOptions) {
    this.#options = options;
    this.#knowledge = new Knowledge(options.scheduler, options.mostWeight);
    const { ipvs, capture } = options;
    const { hairpins, rejected } = this.#knowledge;
    this.#kernel = { ipvs, capture, hairpins, rejected, print: new ExpectedPrint() };
    this.#warnings = new RejectionWarnings((message) => options.onWarning?.(message));
    const report = (what: string, isOwn?: true): void => this.#report(what, isOwn);
    const common = { kernel: this.#kernel, knowledge: this.#knowledge, report };
    this.#writer = new RowWriter({ ...common, warnings: this.#warnings });
    this.#drain = new DrainPasses({
      deleteDrained: () => this.deleteDrained(),
      report: (what) => this.#report(what, true),
    });
    this.#prints = new PrintWatch({
      kernel: this.#kernel,
      report,
      isInspected: () => this.#knowledge.facts !== undefined,
      deleteDrained: () => this.#drain.pass(),
    });
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
      await this.#writer.apply(changes);
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
      deleteDrained: () => this.#drain.pass(),
      prints: this.#prints,
    };
    await watchIpvs(watched, onDrift, signal);
  }

  /** One pass, as `watch` makes one every second: deletes what has no connection left. */
  async deleteDrained(): Promise<void> {
    const turn = (work: () => Promise<void>) => this.#turn(work);
    await deleteDrained({ kernel: this.#kernel, knowledge: this.#knowledge, turn });
  }

  async read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined> {
    return await (this as Readers)[key]?.(rows);
  }

  async counters(rows?: readonly Forwarding[]): Promise<readonly EndpointCount[]> {
    const wanted = rows && new Set(rows.map(({ id }) => servicePortKey(id)));
    const all = [...this.#knowledge.owners];
    // A copy: rows may be written meanwhile.
    const owners = new Map(wanted ? all.filter(([, key]) => wanted.has(key)) : all);
    return owners.size === 0 ? [] : await readCounters(this.#options.ipvs, owners);
  }

  /**
   * After the first sync: virtual servers of another proxy are its own from now on. Their connections
   * go on; those that no row wants drain.
   */
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

  async report(): Promise<IpvsReport> {
    const { declined } = this.#knowledge.room;
    return { ...reportOf(await readEverything(this.#options)), ...(declined && { declined }) };
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
    const { size: count } = await ownServers(this.#options);
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
    this.#ours = new Set();
    this.#knowledge.forget();
    this.#kernel.print.forget();
  }

  async #inspectEverything(desired: Desired): Promise<Inspection> {
    // Loads the kernel module, without which there are no settings of it.
    await setTimeouts(this.#options);
    await this.#options.prepare();
    // An inspection that fails has forgotten them.
    if (this.#knowledge.facts) this.#ours = this.#knowledge.ours();
    const own = await ownNow(desired.facts, this.#options.readOwn);
    const of = { knowledge: this.#knowledge, ours: this.#ours, own };
    const { foreign, ...inspection } = await withMarks(this.#options, desired.facts, () =>
      inspectEverything(this.#kernel, of, desired),
    );
    this.#warnings.foreign(foreign);
    return inspection;
  }

  async #assume({ facts, rows }: Desired): Promise<Inspection> {
    await this.#configure(facts);
    const right = new Set(rows.map(({ id }) => servicePortKey(id)));
    return { right, differences: [], differenceCount: 0, writeCount: 0 };
  }

  async #configure(facts: NodeFacts): Promise<void> {
    if (!this.#knowledge.facts) throw notInspected();
    await withMarks(this.#options, facts, () => this.#options.capture.configure(facts));
    const addresses = nodePortAddresses(facts);
    if (!isSame(addresses, this.#knowledge.addresses)) {
      await this.#moveNodePorts(addresses);
    }
    this.#knowledge.setFacts(facts);
    const own = await ownNow(facts, this.#options.readOwn);
    if (own.symmetricDifference(this.#knowledge.own).size > 0) {
      this.#report('Service addresses of this node itself have changed', true);
    }
  }

  /** A few rows at a time: all of them would hold up the event loop. */
  async #moveNodePorts(addresses: NodePortAddresses): Promise<void> {
    const { rowsAtOnce = ROWS_AT_ONCE } = this.#options;
    const rows = [...this.#knowledge.claims.rowsWithNodePorts()];
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const changes = rows
        .slice(from, from + rowsAtOnce)
        .map((row) => ({ key: servicePortKey(row.id), before: row, after: row }));
      try {
        await this.#writer.move(changes, addresses);
      } catch (error) {
        this.#writer.doubtMoved(rows.slice(0, from + rowsAtOnce), addresses);
        throw error;
      }
      await nextIteration();
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

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isSame(a: NodePortAddresses, b: NodePortAddresses): boolean {
  return a.IPv4.join() === b.IPv4.join() && a.IPv6.join() === b.IPv6.join();
}

/** Runs one piece of work after the other: the drainer works beside the calls of the contract. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    // Its caller gets the error; the next one only waits for the end.
    this.#last = mine.catch(() => undefined);
    return await mine;
  }
}
