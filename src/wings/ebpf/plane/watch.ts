import { pollingBy } from '../../../dataplanes/shared/poll-pace.ts';
import { pollSparingly } from '../../../dataplanes/shared/polling.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import { changesAtPlaces, changesInMaps } from './drift.ts';
import type { Kernel } from './kernel.ts';
import { sweepAffinities } from './maps/affinities.ts';
import { type NodeAbout, nodeEntries, noteInterfaces } from './maps/fixed-entries.ts';
import type { Knowledge } from './maps/knowledge.ts';
import type { StickyPorts } from './maps/sticky-ports.ts';
import type { NodeLinks } from './node-links.ts';
import type { Reported } from './reported.ts';
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

  constructor(of: Watched) {
    this.#of = of;
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
