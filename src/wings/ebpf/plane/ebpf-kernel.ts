import type { Difference } from '../../../dataplanes/contract.ts';
import type { LoadedObject } from '../../../linux/ebpf/load-object.ts';
import type { BpfMap } from '../../../linux/ebpf/map.ts';
import { grownMaps, grownSizes } from './maps/growth.ts';
import type { Knowledge } from './maps/map-knowledge.ts';
import { adoptMaps, MAP_NAMES, pinNewMaps } from './maps/map-set.ts';
import type { Shortage } from './maps/map-transaction.ts';
import { Tables } from './maps/open-tables.ts';
import type { Pins } from './pins.ts';
import { Places } from './places/hook-places.ts';
import { loadPrograms, type Objects } from './places/programs.ts';

export type OpenTables = (maps: ReadonlyMap<string, BpfMap>) => Tables;

interface KernelPlace {
  readonly objects: Objects;
  readonly pins: Pins;
  readonly cgroupPath: string;
  readonly interfaces: () => readonly number[];
  readonly openTables?: OpenTables;
}

/** Our maps and programs in the kernel: those that were there, or new ones. */
export class Kernel {
  readonly places: Places;
  readonly #objects: Objects;
  readonly #pins: Pins;
  readonly #maps: Map<string, BpfMap>;
  readonly #openTables: OpenTables;
  #tables: Tables;
  /** Maps that were replaced, and are closed when no read is under way. */
  readonly #retired: BpfMap[] = [];
  #readers = 0;

  private constructor(parts: {
    objects: Objects;
    pins: Pins;
    places: Places;
    maps: Map<string, BpfMap>;
    openTables: OpenTables;
  }) {
    this.#objects = parts.objects;
    this.#pins = parts.pins;
    this.places = parts.places;
    this.#maps = parts.maps;
    this.#openTables = parts.openTables;
    this.#tables = parts.openTables(parts.maps);
  }

  static open(place: KernelPlace): Kernel {
    const { objects, pins, cgroupPath, interfaces } = place;
    const openTables: OpenTables = place.openTables ?? ((maps) => new Tables(maps));
    pins.make();
    const adopted = adoptMaps(objects.sockets, pins);
    let loaded: LoadedObject | undefined;
    try {
      loaded = loadPrograms(objects, { maps: adopted });
      pinNewMaps(objects.sockets, loaded, { pins, adopted });
      const places = new Places({ pins, cgroupPath, interfaces, loaded });
      return new Kernel({ objects, pins, places, maps: new Map(loaded.maps), openTables });
    } catch (error) {
      loaded?.close();
      for (const map of adopted.values()) map.close();
      throw error;
    }
  }

  get tables(): Tables {
    return this.#tables;
  }

  /**
   * For a reader that runs during calls: the maps stay open until it is done, even if they are
   * replaced.
   */
  async read<T>(use: (tables: Tables) => Promise<T>): Promise<T> {
    this.#readers += 1;
    try {
      return await use(this.#tables);
    } finally {
      this.#readers -= 1;
      this.#closeRetired();
    }
  }

  close(): void {
    this.places.close();
    this.#retire(this.#maps.values());
  }

  /** Restores pins that another process deleted or replaced. */
  repairPins(): Difference[] {
    this.#pins.make();
    const missing = this.wrongPins();
    for (const name of missing) {
      const map = this.#maps.get(name);
      if (map) this.#pins.pinMap(name, map);
    }
    return missing.map((name) => ({ kind: 'missing', object: `pin of the ebpf map ${name}` }));
  }

  /** Names of maps under which there is no pin, or one of another map. */
  wrongPins(): string[] {
    return MAP_NAMES.filter((name) => this.#pins.mapId(name) !== this.#maps.get(name)?.id);
  }

  /**
   * Larger maps: filled, written by us, then installed under the programs and the old pins. Until
   * they are loaded a failure changes nothing; after that the next inspection finds what is still
   * old.
   */
  async grow(shortage: Shortage, knowledge: Knowledge): Promise<void> {
    const sizes = grownSizes(this.#tables, shortage);
    const grown = await grownMaps(this.#tables, sizes);
    const loaded = this.#loadedOn(grown);
    const old = [...this.#maps].filter(([name]) => grown.has(name)).map(([, map]) => map);
    for (const [name, map] of grown) this.#maps.set(name, map);
    this.#tables = this.#openTables(this.#maps);
    this.#noteSize(knowledge);
    this.#retire(old);
    this.places.use(loaded);
    this.repairPins();
    await this.places.repair();
  }

  #retire(maps: Iterable<BpfMap>): void {
    this.#retired.push(...maps);
    this.#closeRetired();
  }

  #closeRetired(): void {
    if (this.#readers > 0) return;
    for (const map of this.#retired.splice(0)) map.close();
  }

  #loadedOn(grown: ReadonlyMap<string, BpfMap>): LoadedObject {
    try {
      return loadPrograms(this.#objects, { maps: new Map([...this.#maps, ...grown]) });
    } catch (error) {
      for (const map of grown.values()) map.close();
      throw error;
    }
  }

  #noteSize(knowledge: Knowledge): void {
    const capacity = this.#tables.slots.maxEntries;
    if (capacity === knowledge.slotPrints.length) return;
    const prints = new Uint32Array(capacity);
    prints.set(knowledge.slotPrints);
    knowledge.slotPrints = prints;
    knowledge.space.extendTo(capacity);
  }
}
