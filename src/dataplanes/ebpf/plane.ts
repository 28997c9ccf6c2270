import { setImmediate } from 'node:timers/promises';
import { servicePortKey } from '../../forwarding/model.ts';
import type { BpfMap } from '../../linux/bpf/map.ts';
import type { MachineLink } from '../../linux/route/link-codec.ts';
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
  RowChange,
} from '../contract.ts';
import { pollSparingly } from '../shared/polling.ts';
import { readCounters } from './counters.ts';
import { changesAtPlaces, changesInMaps } from './drift.ts';
import { diffTables, inspectEverything, readFrontends } from './inspect.ts';
import { Kernel } from './kernel.ts';
import { readAffinityFill, sweepAffinities } from './maps/affinities.ts';
import { frontendOfKey } from './maps/entry-text.ts';
import {
  compareNodeEntries,
  type NodeAbout,
  nodeEntries,
  noteInterfaces,
} from './maps/fixed-entries.ts';
import { Knowledge } from './maps/knowledge.ts';
import { openMaps } from './maps/map-set.ts';
import type { StickyPorts } from './maps/sticky-ports.ts';
import { Tables } from './maps/tables.ts';
import { Transaction } from './maps/transaction.ts';
import { NodeLinks } from './node-links.ts';
import type { HooksOptions } from './options.ts';
import { Pins } from './pins.ts';
import { HOOK_NAMES } from './places/hook-names.ts';
import { ingressStrays } from './places/ingress-strays.ts';
import { Places } from './places/places.ts';
import { loadPrograms, type Objects } from './places/programs.ts';
import { detachStrays, strays } from './places/strays.ts';
import { pollingBy } from './poll-pace.ts';
import { asPlaneError, notInspected } from './refusal.ts';

/** A program that is taken off is put back within a second. */
const AT_HOOKS = { everyMs: 250, atLeastEveryMs: 500 } as const;
/** Clients whose time is over only take room, so it may come late. */
const AT_AFFINITIES = { everyMs: 2000, atLeastEveryMs: 30_000 } as const;
/** What is written into small maps is put right within a second, into large ones within six. */
const AT_MAPS = { everyMs: 250, atLeastEveryMs: 5000 } as const;

/**
 * The data plane of programs in the kernel. At sockets, who connects or sends to a Service address
 * does so to an endpoint; with `packets`, so does what comes in by an interface. It serves what it
 * can do right; the rest passes, so another plane must stand behind it.
 */
export class HooksPlane implements DataPlane {
  readonly mode: string;
  readonly rowsPerStep = 4096;
  readonly #options: HooksOptions;
  readonly #knowledge = new Knowledge();
  #kernel: Kernel | undefined;
  #suspects = { hooks: false, maps: false };
  /** To whom a watch tells of drift; undefined before there is one. */
  #tell: ((what: string) => void) | undefined;
  /** Write generation: discard a scan if it changed meanwhile. */
  #writes = 0;
  /** Whose packets are met. Told before the interfaces are looked at, unlike what is in `knowledge`. */
  #clients: Pick<NodeFacts, 'clientInterfaces'> = {};
  /** Nor does one that began while it was under way. */
  #isWriting = false;
  readonly #links: NodeLinks;

  constructor(options: HooksOptions) {
    this.#options = options;
    this.#links = new NodeLinks(options.packets);
    this.mode = options.packets ? 'packet hooks' : 'socket hooks';
  }

  async inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
    const suspects = this.#suspects;
    this.#suspects = { hooks: false, maps: false };
    this.#beginWrite();
    this.#clients = desired.facts;
    const { facts, present } = this.#knowledge;
    const isCertain =
      facts !== undefined &&
      present.size === 0 &&
      !suspects.maps &&
      !this.#havePodsMoved(facts, desired.facts);
    try {
      await this.#links.read();
      if (depth === 'everything' || !isCertain) return await this.#inspectEverything(desired);
      return await this.#inspectHooks(desired);
    } catch (error) {
      this.#suspects = { hooks: true, maps: true };
      throw asPlaneError(error);
    } finally {
      this.#isWriting = false;
    }
  }

  async configure(facts: NodeFacts): Promise<void> {
    if (!this.#knowledge.facts) throw notInspected();
    this.#beginWrite();
    try {
      const kernel = this.#opened();
      const node = () => nodeEntries(facts, this.#about());
      await compareNodeEntries(kernel.tables, node, { write: true });
      this.#clients = facts;
      await kernel.places.followInterfaces();
      this.#noteMovedPods(this.#knowledge.facts, facts);
      this.#knowledge.facts = facts;
    } catch (error) {
      throw asPlaneError(error);
    } finally {
      this.#isWriting = false;
    }
  }

  async apply(changes: readonly RowChange[]): Promise<void> {
    if (!this.#knowledge.facts) throw notInspected();
    this.#beginWrite();
    const { sticky } = this.#knowledge;
    sticky.addAll(changes);
    try {
      const transaction = await this.#planned(changes);
      await this.#written(transaction);
    } catch (error) {
      throw asPlaneError(error);
    } finally {
      this.#isWriting = false;
    }
    sticky.deleteFormer(changes);
    const { present } = this.#knowledge;
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

  /** Each by itself: reading large maps must not delay the repair of a detached program. */
  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    const tell = (what: string) => onDrift({ what });
    this.#tell = tell;
    await Promise.all([
      pollSparingly(
        pollingBy(AT_HOOKS, async () => this.#pollHooks(tell)),
        signal,
      ),
      pollSparingly(
        pollingBy(AT_MAPS, () => this.#pollMaps(tell)),
        signal,
      ),
      pollSparingly(
        pollingBy(AT_AFFINITIES, () => this.#sweepAffinities()),
        signal,
      ),
      this.#links.watch((links) => void this.#followInterfaces(links), signal),
    ]);
  }

  async counters(): Promise<readonly EndpointCount[]> {
    if (!this.#kernel) return [];
    // As they are now: what is written meanwhile may lie in maps that are larger than these.
    const lists = new Map(this.#knowledge.lists);
    return await this.#kernel.read((tables) => readCounters(tables, lists));
  }

  async affinityFill(): Promise<AffinityFill> {
    if (!this.#kernel) return { remembered: 0, room: 0, full: [] };
    return await this.#kernel.read((tables) => readAffinityFill(tables, this.#knowledge.sticky));
  }

  /** Without maps of ours nothing can be attached that does anything. */
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
      const cgroupPath = this.#options.findCgroup();
      const none = new Set<number>();
      const atSockets = cgroupPath === undefined ? [] : strays({ cgroupPath, kept: none });
      const atInterfaces = ingressStrays(none, () => undefined);
      return [
        { what: 'programs' as const, count: atSockets.length + atInterfaces.length },
        { what: 'maps' as const, count: new Pins(this.#options.pinFolder).mapCount() },
      ].filter(({ count }) => count > 0);
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async remove(): Promise<void> {
    const kernel = this.#kernel;
    // From here on a watch has nothing to look at, and nothing to put back.
    this.#kernel = undefined;
    try {
      const pins = new Pins(this.#options.pinFolder);
      for (const name of pins.linkNames()) {
        const link = pins.link(name);
        link?.detach();
        link?.close();
        // Each takes the kernel some ten milliseconds.
        await setImmediate();
      }
      const cgroupPath = this.#options.findCgroup();
      if (cgroupPath !== undefined) detachStrays({ cgroupPath, kept: new Set() });
      ingressStrays(new Set(), (link) => link.detach());
      pins.removeAll();
      this.#options.releasePins();
      this.#writes += 1;
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
    const pins = kernel.mendPins();
    const inspected = {
      tables: kernel.tables,
      places: kernel.places,
      knowledge: this.#knowledge,
      about: this.#about(),
    };
    const inspection = await inspectEverything(inspected, desired);
    return withMore(inspection, pins);
  }

  /** Believes the rows to be there: only programs, pins and the node's entries are looked at. */
  async #inspectHooks(desired: Desired): Promise<Inspection> {
    const kernel = this.#opened();
    const node = () => nodeEntries(desired.facts, this.#about());
    const amiss = [
      ...kernel.mendPins(),
      ...(await kernel.places.mend()),
      ...(await compareNodeEntries(kernel.tables, node, { write: true })),
    ];
    this.#knowledge.facts = desired.facts;
    const right = new Set(desired.rows.map(({ id }) => servicePortKey(id)));
    return withMore({ right, differences: [], differenceCount: 0, writeCount: 0 }, amiss);
  }

  /** What was refused half way was taken back, if the kernel took that: somebody must look. */
  async #written(transaction: Transaction): Promise<void> {
    try {
      await transaction.write();
    } catch (error) {
      this.#suspects.maps = true;
      this.#tell?.('a change of the ebpf maps was refused half way');
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

  /** Gives whether it looked at all; so does the other. */
  #pollHooks(tell: (what: string) => void): boolean {
    if (this.#suspects.hooks || !this.#kernel || !this.#knowledge.facts) return false;
    const missing = this.#kernel.wrongPins().map((name) => `the pin of ebpf map ${name} has gone`);
    const changes = [...changesAtPlaces(this.#kernel.places), ...missing];
    if (changes.length === 0) return true;
    this.#suspects.hooks = true;
    tell(changes.join(', '));
    return true;
  }

  async #pollMaps(tell: (what: string) => void): Promise<boolean> {
    const { facts } = this.#knowledge;
    if (this.#suspects.maps || !this.#kernel || !facts || this.#isWriting) return false;
    const before = this.#writes;
    const node = () => nodeEntries(facts, this.#about());
    const changes = await this.#kernel.read((tables) =>
      changesInMaps(tables, this.#knowledge, node),
    );
    if (changes.length === 0 || before !== this.#writes) return true;
    this.#suspects.maps = true;
    tell(changes.join(', '));
    return true;
  }

  async #sweepAffinities(): Promise<boolean> {
    if (!this.#kernel || !this.#knowledge.facts) return false;
    const sticky = (): StickyPorts => this.#knowledge.sticky;
    await this.#kernel.read((tables) => sweepAffinities(tables, { sticky, nowNs: monotonicNs }));
    return true;
  }

  /** An interface that has come is served before anybody looks; until then the rules behind serve it. */
  async #followInterfaces(links: {
    readonly before: readonly MachineLink[];
    readonly now: readonly MachineLink[];
  }): Promise<void> {
    const { facts } = this.#knowledge;
    this.#writes += 1;
    if (!this.#kernel || !facts) return;
    try {
      noteInterfaces(this.#kernel.tables, facts, links);
      await this.#kernel.places.followInterfaces();
    } catch (error) {
      this.#suspects.hooks = true;
      this.#tell?.(`an interface cannot be served: ${String(error)}`);
    }
  }

  /** Which rows lead out of the pods' network is written in them. */
  #noteMovedPods(before: NodeFacts | undefined, after: NodeFacts): void {
    if (!this.#havePodsMoved(before, after)) return;
    this.#suspects.maps = true;
    this.#tell?.('the network of the pods is another one');
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

  /** Calls come one after the other. */
  #beginWrite(): void {
    this.#writes += 1;
    this.#isWriting = true;
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

function monotonicNs(): number {
  return Number(process.hrtime.bigint());
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
