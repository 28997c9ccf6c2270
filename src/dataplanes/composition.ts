import type { Change } from '../forwarding/table.ts';
import type {
  DataPlane,
  Desired,
  Difference,
  Drift,
  EndpointCount,
  Inspection,
  KernelFrontend,
  NodeFacts,
} from './contract.ts';

export interface ComposedPlaneParts {
  readonly mode: string;
  /** Serves what it can and lets the rest pass. */
  readonly front: DataPlane;
  /** Serves everything that reaches it. */
  readonly behind: DataPlane;
}

/**
 * Two planes as one: both have every row. Whatever passes the first meets the second, so the second
 * is always told first of what is new, and is the last to go.
 */
export class ComposedPlane implements DataPlane {
  readonly mode: string;
  readonly rowsPerStep?: number;
  readonly #front: DataPlane;
  readonly #behind: DataPlane;

  constructor({ mode, front, behind }: ComposedPlaneParts) {
    this.mode = mode;
    this.#front = front;
    this.#behind = behind;
    const limit = behind.rowsPerStep;
    if (limit !== undefined) this.rowsPerStep = limit;
  }

  async inspect(desired: Desired, depth: 'everything' | 'suspects'): Promise<Inspection> {
    // The rows are to be read once, and two planes read them.
    const again = { facts: desired.facts, rows: [...desired.rows] };
    const behind = await this.#behind.inspect(again, depth);
    const front = await this.#front.inspect(again, depth);
    return {
      right: behind.right.intersection(front.right),
      differences: [...behind.differences, ...front.differences],
      differenceCount: behind.differenceCount + front.differenceCount,
      writeCount: behind.writeCount + front.writeCount,
    };
  }

  async configure(facts: NodeFacts): Promise<void> {
    await this.#behind.configure(facts);
    await this.#front.configure(facts);
  }

  /** What the front refuses is taken back from behind: it is one transaction, or none. */
  async apply(changes: readonly Change[]): Promise<void> {
    await this.#behind.apply(changes);
    try {
      await this.#front.apply(changes);
    } catch (error) {
      await this.#behind.apply(changes.map(undone));
      throw error;
    }
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    const again = { facts: desired.facts, rows: [...desired.rows] };
    return [...(await this.#behind.diff(again)), ...(await this.#front.diff(again))];
  }

  /** The first that ends ends the other: nobody would know that half of the watch is gone. */
  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    const one = new AbortController();
    const either = AbortSignal.any([signal, one.signal]);
    const watches = [this.#behind, this.#front].map((plane) =>
      plane.watch(onDrift, either).finally(() => one.abort()),
    );
    const ended = await Promise.allSettled(watches);
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** A connection is counted where it was translated, so the two add up. */
  async counters(): Promise<readonly EndpointCount[]> {
    const sums = new Map<string, EndpointCount>();
    for (const plane of [this.#behind, this.#front]) {
      for (const count of await plane.counters()) {
        const id = `${count.service} ${count.frontend} ${count.endpoint}`;
        const known = sums.get(id);
        sums.set(id, {
          ...count,
          connections: count.connections + (known?.connections ?? 0),
          bytes: count.bytes + (known?.bytes ?? 0),
        });
      }
    }
    return [...sums.values()];
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    const all = [...(await this.#behind.frontends()), ...(await this.#front.frontends())];
    const byName = all.map(
      (each) => [`${each.protocol} ${each.address ?? ''} ${each.port}`, each] as const,
    );
    return [...new Map(byName).values()];
  }

  async remove(): Promise<void> {
    await this.#front.remove();
    await this.#behind.remove();
  }
}

/** A row of which was not known what it was is taken away: it is still to be written. */
function undone({ key, before, after }: Change): Change {
  return { key, before: after, after: before };
}
