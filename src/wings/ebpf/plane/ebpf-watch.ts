import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Difference } from '../../../dataplanes/contract.ts';
import { pollingBy, pollSparingly } from '../../../dataplanes/shared/poll-pace.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import type { Kernel } from './ebpf-kernel.ts';
import { sweepAffinities } from './maps/affinities.ts';
import { entryPrint, slotPrint } from './maps/entry-fingerprint.ts';
import {
  compareNodeEntries,
  type NodeAbout,
  type NodeEntries,
  nodeEntries,
  noteInterfaces,
} from './maps/fixed-entries.ts';
import { SLOT, wordsIn } from './maps/layout.ts';
import type { Knowledge } from './maps/map-knowledge.ts';
import { type Tables, wordsOfSlots } from './maps/open-tables.ts';
import type { StickyPorts } from './maps/sticky-ports.ts';
import type { NodeLinks } from './node-links.ts';
import type { Places } from './places/hook-places.ts';
import type { Writes } from './writes.ts';

/** A detached program is attached again within a second. */
const HOOKS_PACE = { everyMs: 250, atLeastEveryMs: 500 } as const;
/** Expired affinity entries only take room, so they may be deleted late. */
const AFFINITIES_PACE = { everyMs: 2000, atLeastEveryMs: 30_000 } as const;
/** Changed entries of small maps are repaired within a second, of large ones within six. */
const MAPS_PACE = { everyMs: 250, atLeastEveryMs: 5000 } as const;

export interface Watched {
  /** Undefined: nothing of ours is in the kernel. */
  readonly kernel: () => Kernel | undefined;
  readonly knowledge: Knowledge;
  readonly about: () => NodeAbout;
  readonly links: NodeLinks;
  readonly writes: Writes;
  readonly reported: Reported;
}

interface MovedLinks {
  readonly before: readonly MachineLink[];
  readonly now: readonly MachineLink[];
}

/**
 * Finds changes by other processes to programs, pins and maps, which the kernel does not report.
 */
export class HooksWatch {
  readonly #of: Watched;

  constructor(watched: Watched) {
    this.#of = watched;
  }

  /** Each poll by itself: reading large maps must not delay the repair of a detached program. */
  async run(signal: AbortSignal): Promise<void> {
    const polls = [
      pollingBy(HOOKS_PACE, async () => this.#pollHooks()),
      pollingBy(MAPS_PACE, () => this.#pollMaps()),
      pollingBy(AFFINITIES_PACE, () => this.#sweepAffinities()),
    ];
    await Promise.all([
      ...polls.map((polling) => pollSparingly(polling, signal)),
      this.#of.links.watch((links) => void this.#followInterfaces(links), signal),
    ]);
  }

  /** Gives whether it polled at all; so do the others. */
  #pollHooks(): boolean {
    const { reported, knowledge } = this.#of;
    const kernel = this.#of.kernel();
    if (reported.hooks || !kernel || !knowledge.facts) return false;
    const missing = kernel.wrongPins().map((name) => `the pin of ebpf map ${name} is gone`);
    const changes = [...changesAtPlaces(kernel.places), ...missing];
    if (changes.length > 0) reported.report('hooks', changes.join(', '));
    return true;
  }

  async #pollMaps(): Promise<boolean> {
    const { reported, knowledge, writes } = this.#of;
    const kernel = this.#of.kernel();
    const { facts } = knowledge;
    if (reported.maps || !kernel || !facts || writes.isUnderWay) return false;
    const before = writes.generation;
    const node = () => nodeEntries(facts, this.#of.about());
    const changes = await kernel.read((tables) => changesInMaps(tables, knowledge, node));
    if (changes.length === 0 || before !== writes.generation) return true;
    reported.report('maps', changes.join(', '));
    return true;
  }

  async #sweepAffinities(): Promise<boolean> {
    const { knowledge } = this.#of;
    const kernel = this.#of.kernel();
    if (!kernel || !knowledge.facts) return false;
    const sticky = (): StickyPorts => knowledge.sticky;
    await kernel.read((tables) => sweepAffinities(tables, { sticky, nowNs: monotonicNs }));
    return true;
  }

  /** A new interface is served before the next inspection; until then the plane behind serves it. */
  async #followInterfaces(links: MovedLinks): Promise<void> {
    const { knowledge, writes, reported } = this.#of;
    const kernel = this.#of.kernel();
    writes.note();
    if (!kernel || !knowledge.facts) return;
    try {
      noteInterfaces(kernel.tables, knowledge.facts, links);
      await kernel.places.followInterfaces();
    } catch (error) {
      reported.report('hooks', `an interface cannot be served: ${String(error)}`);
    }
  }
}

function monotonicNs(): number {
  return Number(process.hrtime.bigint());
}

const HAPPENED: Readonly<Record<Difference['kind'], string>> = {
  missing: 'was detached',
  different: 'runs another program',
  foreign: 'is attached and should not be',
};

/** What other processes have changed in the maps, described; empty: nothing. */
export async function changesInMaps(
  tables: Tables,
  knowledge: Knowledge,
  node?: () => NodeEntries,
): Promise<string[]> {
  const changes = node === undefined ? [] : await changesOfNode(tables, node);
  let count = 0;
  let sum = 0;
  for await (const entries of tables.frontends.entries(new AbortController().signal)) {
    for (const { key, value } of entries) {
      count += 1;
      sum = (sum + entryPrint(key, value)) >>> 0;
    }
  }
  if (count !== knowledge.frontendCount || sum !== knowledge.frontendSum) {
    changes.push(`ebpf frontends changed: ${count} entries instead of ${knowledge.frontendCount}`);
  }
  const changed = await changedSlots(tables, knowledge);
  if (changed > 0) changes.push(`${changed} ebpf slots changed`);
  return changes;
}

/** They are few, and a wrong value in them misleads every connection. */
async function changesOfNode(tables: Tables, node: () => NodeEntries): Promise<string[]> {
  const differences = await compareNodeEntries(tables, node, { write: false });
  return differences.map(({ object }) => `${object} changed`);
}

/** Blocks the event loop for about two milliseconds. */
const SLOTS_PER_ITERATION = 8192;

/** Reading costs most, so slots behind the last written one are not read. */
async function changedSlots(tables: Tables, { slotPrints }: Knowledge): Promise<number> {
  let length = slotPrints.length;
  while (length > 0 && slotPrints[length - 1] === 0) length -= 1;
  let changed = 0;
  for (let first = 0; first < length; first += SLOTS_PER_ITERATION) {
    if (first > 0) await nextIteration();
    const count = Math.min(SLOTS_PER_ITERATION, length - first);
    const slots = wordsOfSlots(tables.readSlots({ first, length: count }));
    for (let at = 0; at < count; at++) {
      const print = slotPrints[first + at];
      if (print !== 0 && print !== slotPrint(slots, at * wordsIn(SLOT))) changed += 1;
    }
  }
  return changed;
}

function changesAtPlaces(places: Places): string[] {
  return places.differences().map(({ kind, object }) => `${object} ${HAPPENED[kind]}`);
}

/** Changes found since the last inspection, and the callback that reports them. */
export class Reported {
  hooks = false;
  maps = false;
  #onDrift: ((what: string) => void) | undefined;

  /** Without a watch nothing is reported; the next inspection reads it anyway. */
  reportTo(onDrift: (what: string) => void): void {
    this.#onDrift = onDrift;
  }

  report(where: 'hooks' | 'maps', what: string): void {
    this[where] = true;
    this.#onDrift?.(what);
  }

  /** Gives what an inspection that begins now has to read. */
  take(): { readonly hooks: boolean; readonly maps: boolean } {
    const { hooks, maps } = this;
    this.hooks = false;
    this.maps = false;
    return { hooks, maps };
  }

  noteEverything(): void {
    this.hooks = true;
    this.maps = true;
  }
}
