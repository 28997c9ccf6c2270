import type { BpfMap } from '../../linux/bpf/map.ts';
import type { BpfObject } from '../../linux/bpf/object.ts';
import type { Difference } from '../contract.ts';
import { grownMaps, grownSizes } from './growth.ts';
import { Hooks, loadHooks } from './hooks.ts';
import type { Knowledge } from './knowledge.ts';
import { MAP_NAMES } from './map-names.ts';
import { adoptMaps, pinNewMaps } from './map-set.ts';
import type { Pins } from './pins.ts';
import { Tables } from './tables.ts';
import type { Shortage } from './transaction.ts';

/** Our maps and programs in the kernel: those that were there, or new ones. */
export class Kernel {
  readonly hooks: Hooks;
  readonly #object: BpfObject;
  readonly #pins: Pins;
  readonly #maps: Map<string, BpfMap>;
  #tables: Tables;

  private constructor(of: {
    object: BpfObject;
    pins: Pins;
    hooks: Hooks;
    maps: Map<string, BpfMap>;
  }) {
    this.#object = of.object;
    this.#pins = of.pins;
    this.hooks = of.hooks;
    this.#maps = of.maps;
    this.#tables = new Tables(of.maps);
  }

  static open(of: { object: BpfObject; pins: Pins; cgroupPath: string }): Kernel {
    const { object, pins, cgroupPath } = of;
    pins.make();
    const adopted = adoptMaps(object, pins);
    const loaded = loadHooks(object, { maps: adopted });
    pinNewMaps(object, loaded, { pins, adopted });
    const hooks = new Hooks({ pins, cgroupPath, loaded });
    return new Kernel({ object, pins, hooks, maps: new Map(loaded.maps) });
  }

  get tables(): Tables {
    return this.#tables;
  }

  /** Pins that somebody took away; they are put back. */
  mendPins(): Difference[] {
    const missing = this.missingPins();
    for (const name of missing) {
      const map = this.#maps.get(name);
      if (map) this.#pins.pinMap(name, map);
    }
    return missing.map((name) => ({ kind: 'missing', object: `pin of the ebpf map ${name}` }));
  }

  missingPins(): string[] {
    return MAP_NAMES.filter((name) => !this.#pins.hasMap(name));
  }

  /** Larger maps: filled, then put under the programs, then under the old names. */
  async grow(shortage: Shortage, knowledge: Knowledge): Promise<void> {
    const sizes = grownSizes(this.#tables, shortage);
    const grown = await grownMaps(this.#tables, sizes);
    const old = [...grown.keys()].map((name) => this.#maps.get(name));
    for (const [name, map] of grown) this.#maps.set(name, map);
    this.hooks.switchTo(loadHooks(this.#object, { maps: this.#maps }));
    for (const [name, map] of grown) this.#pins.pinMap(name, map);
    for (const map of old) map?.close();
    this.#tables = new Tables(this.#maps);
    this.#noteSize(knowledge);
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
