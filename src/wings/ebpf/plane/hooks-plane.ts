import type {
  AffinityFill,
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
import { type Forwarding, type ServicePortKey, servicePortKey } from '../../../forwarding/model.ts';
import type { BpfMap } from '../../../linux/ebpf/map.ts';
import { Kernel } from './ebpf-kernel.ts';
import type { HooksOptions } from './ebpf-options.ts';
import { HooksWatch, Reported } from './ebpf-watch.ts';
import { diffTables, inspectEverything, readFrontends } from './inspect-maps.ts';
import { readAffinityFill } from './maps/affinities.ts';
import { frontendOfKey } from './maps/entry-text.ts';
import { compareNodeEntries, type NodeAbout, nodeEntries } from './maps/fixed-entries.ts';
import { Knowledge } from './maps/map-knowledge.ts';
import { openMaps } from './maps/map-set.ts';
import { Transaction } from './maps/map-transaction.ts';
import { Tables } from './maps/open-tables.ts';
import { NodeLinks } from './node-links.ts';
import { Pins } from './pins.ts';
import { HOOK_NAMES } from './places/hook-names.ts';
import { Places } from './places/hook-places.ts';
import { loadPrograms, type Objects } from './places/programs.ts';
import { countEverything, removeEverything } from './remove-ebpf.ts';
import { readCounters, readTotals } from './slot-counters.ts';
import { asPlaneError, notInspected, Writes } from './writes.ts';

/**
 * The data plane of eBPF programs. At socket hooks it replaces a Service address by an endpoint when a
 * socket connects or sends; with `packets`, also in packets that come in by an interface. It translates
 * what it can do right and lets all else pass, so another plane must stand behind it.
 */
export class HooksPlane implements DataPlane {
  readonly mode: string;
  readonly rowsPerStep = 4096;
  readonly #options: HooksOptions;
  readonly #knowledge = new Knowledge();
  #kernel: Kernel | undefined;
  readonly #reported = new Reported();
  readonly #writes = new Writes();
  readonly #watch: HooksWatch;
  /**
   * The clients that are served. Set before the interfaces are read, unlike the facts in
   * `knowledge`.
   */
  #clients: Pick<NodeFacts, 'clientInterfaces'> = {};
  readonly #links: NodeLinks;

  constructor(options: HooksOptions) {
    this.#options = options;
    this.#links = new NodeLinks(options.packets);
    this.mode = options.packets ? 'packet hooks' : 'socket hooks';
    this.#watch = new HooksWatch({
      kernel: () => this.#kernel,
      knowledge: this.#knowledge,
      about: () => this.#about(),
      links: this.#links,
      writes: this.#writes,
      reported: this.#reported,
    });
  }

  async inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
    const reported = this.#reported.take();
    this.#clients = desired.facts;
    const { facts, present } = this.#knowledge;
    const isCertain =
      facts !== undefined &&
      present.size === 0 &&
      !reported.maps &&
      !this.#havePodsMoved(facts, desired.facts);
    return await this.#writes.during(async () => {
      try {
        await this.#links.read();
        if (depth === 'everything' || !isCertain) return await this.#inspectEverything(desired);
        return await this.#inspectHooks(desired);
      } catch (error) {
        this.#reported.noteEverything();
        throw error;
      }
    });
  }

  async configure(facts: NodeFacts): Promise<void> {
    const before = this.#knowledge.facts;
    if (!before) throw notInspected();
    await this.#writes.during(async () => {
      const kernel = this.#opened();
      const node = () => nodeEntries(facts, this.#about());
      await compareNodeEntries(kernel.tables, node, { write: true });
      this.#clients = facts;
      await kernel.places.followInterfaces();
      // Which rows lead out of the pods' network is written in them.
      if (this.#havePodsMoved(before, facts)) {
        this.#reported.report('maps', 'the ranges of pod addresses changed');
      }
      this.#knowledge.facts = facts;
    });
  }

  async apply(changes: readonly RowChange[]): Promise<void> {
    if (!this.#knowledge.facts) throw notInspected();
    const { sticky, present } = this.#knowledge;
    sticky.addAll(changes);
    await this.#writes.during(async () => {
      const transaction = await this.#planned(changes);
      await this.#written(transaction);
    });
    sticky.deleteFormer(changes);
    if (present.size > 0) for (const { key } of changes) present.delete(key);
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    const pins = new Pins(this.#options.pinFolder);
    const maps = openMaps(pins);
    if (maps === undefined) return [{ kind: 'missing', object: `ebpf maps at ${pins.folder}` }];
    try {
      await this.#links.read();
      const differences = await diffTables(new Tables(maps), desired, this.#about());
      for (const difference of this.#diffPlaces(pins, maps, desired.facts))
        differences.add(() => difference);
      return differences.described;
    } finally {
      for (const map of maps.values()) map.close();
    }
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    this.#reported.reportTo((what) => onDrift({ what }));
    await this.#watch.run(signal);
  }

  async read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined> {
    return await (this as Readers)[key]?.(rows);
  }

  async counters(rows?: readonly Forwarding[]): Promise<readonly EndpointCount[]> {
    if (!this.#kernel) return [];
    // A copy: lists that are written meanwhile may lie in larger maps than these.
    const lists = new Map(this.#knowledge.lists);
    const wanted = rows?.map(({ id }) => servicePortKey(id));
    return await this.#kernel.read((tables) => readCounters(tables, lists, wanted));
  }

  /** Connections of each service port. */
  async totals(): Promise<ReadonlyMap<ServicePortKey, number>> {
    if (!this.#kernel) return new Map();
    const lists = new Map(this.#knowledge.lists);
    return await this.#kernel.read(async (tables) => readTotals(tables, lists));
  }

  async affinityFill(): Promise<AffinityFill> {
    if (!this.#kernel) return { remembered: 0, room: 0, full: [] };
    return await this.#kernel.read((tables) => readAffinityFill(tables, this.#knowledge.sticky));
  }

  /** Without our maps, no program could have an effect. */
  async attachments(): Promise<readonly Attachment[]> {
    if (!this.#kernel) {
      return HOOK_NAMES.map((name) => ({ place: 'cgroup', name, isAttached: false }));
    }
    const names = new Map(this.#links.current?.map(({ index, name }) => [index, name]));
    return this.#kernel.places.attachments((ifindex) => names.get(ifindex) ?? `#${ifindex}`);
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    const maps = openMaps(new Pins(this.#options.pinFolder));
    if (maps === undefined) return [];
    try {
      const frontends = await readFrontends(new Tables(maps));
      return [...frontends.keys()].map((key) => frontendOfKey(Buffer.from(key, 'latin1')));
    } finally {
      for (const map of maps.values()) map.close();
    }
  }

  async inventory(): Promise<readonly Holding[]> {
    try {
      return countEverything(this.#options);
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async remove(): Promise<void> {
    const kernel = this.#kernel;
    // From here on a watch has nothing to poll, and nothing to attach again.
    this.#kernel = undefined;
    try {
      await removeEverything(this.#options);
      this.#writes.note();
      this.#knowledge.forget();
    } catch (error) {
      throw asPlaneError(error);
    } finally {
      kernel?.close();
    }
  }

  #diffPlaces(pins: Pins, maps: ReadonlyMap<string, BpfMap>, facts: NodeFacts): Difference[] {
    const cgroupPath = this.#options.cgroupPath();
    const loaded = loadPrograms(this.#objects(), { maps });
    const interfaces = (): readonly number[] => this.#links.served(facts);
    const places = new Places({ pins, cgroupPath, interfaces, loaded });
    try {
      return [...places.differences(), ...places.strays()];
    } finally {
      places.close();
    }
  }

  async #inspectEverything(desired: Desired): Promise<Inspection> {
    const kernel = this.#opened();
    const pins = kernel.repairPins();
    const inspected = {
      tables: kernel.tables,
      places: kernel.places,
      knowledge: this.#knowledge,
      about: this.#about(),
    };
    const inspection = await inspectEverything(inspected, desired);
    return withMore(inspection, pins);
  }

  /** Assumes that the rows are there: reads only programs, pins and the node's entries. */
  async #inspectHooks(desired: Desired): Promise<Inspection> {
    const kernel = this.#opened();
    const node = () => nodeEntries(desired.facts, this.#about());
    const amiss = [
      ...kernel.repairPins(),
      ...(await kernel.places.repair()),
      ...(await compareNodeEntries(kernel.tables, node, { write: true })),
    ];
    this.#knowledge.facts = desired.facts;
    const right = new Set(desired.rows.map(({ id }) => servicePortKey(id)));
    return withMore({ right, differences: [], differenceCount: 0, writeCount: 0 }, amiss);
  }

  /**
   * A rejected write was rolled back, if the kernel accepted that too: only an inspection can tell.
   */
  async #written(transaction: Transaction): Promise<void> {
    try {
      await transaction.write();
    } catch (error) {
      this.#reported.report('maps', 'a change to the ebpf maps failed part way');
      throw error;
    }
  }

  async #planned(changes: readonly RowChange[]): Promise<Transaction> {
    const kernel = this.#opened();
    for (;;) {
      const transaction = new Transaction(this.#knowledge, kernel.tables);
      const shortage = transaction.plan(changes);
      if (shortage === undefined) return transaction;
      await kernel.grow(shortage, this.#knowledge);
    }
  }

  #havePodsMoved(before: NodeFacts | undefined, after: NodeFacts): boolean {
    return this.#options.packets !== undefined && !isSame(before?.podNetworks, after.podNetworks);
  }

  #about(): NodeAbout {
    return { hostCookie: this.#options.hostCookie(), links: () => this.#links.current };
  }

  #objects(): Objects {
    const { readObject, packets } = this.#options;
    return { sockets: readObject(), packets: packets?.readObject() };
  }

  #opened(): Kernel {
    if (this.#kernel) return this.#kernel;
    const { pinFolder, preparePins, cgroupPath, openTables } = this.#options;
    this.#kernel = Kernel.open({
      ...(openTables ? { openTables } : {}),
      objects: this.#objects(),
      pins: new Pins(pinFolder, preparePins),
      cgroupPath: cgroupPath(),
      interfaces: () => this.#links.served(this.#clients),
    });
    return this.#kernel;
  }
}

function isSame(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function withMore(inspection: Inspection, more: readonly Difference[]): Inspection {
  return {
    right: inspection.right,
    differences: [...inspection.differences, ...more],
    differenceCount: inspection.differenceCount + more.length,
    writeCount: inspection.writeCount + more.length,
  };
}
