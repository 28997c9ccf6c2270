import { setTimeout as delay } from 'node:timers/promises';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { goingFirst, type HalfKnown, rowsOf, undone, withKnown } from './composed-changes.ts';
import { ComposedParts } from './composed-parts.ts';
import {
  type AffinityFill,
  type Attachment,
  type DataPlane,
  type Desired,
  type Difference,
  type Drift,
  type EndpointCount,
  type Inspection,
  type KernelFrontend,
  type NodeFacts,
  PlaneError,
} from './contract.ts';

export interface ComposedPlaneParts {
  readonly mode: string;
  /** Serves what it can and lets the rest pass. */
  readonly front: DataPlane;
  /** Serves everything that reaches it. */
  readonly behind: DataPlane;
  /** The front cannot be used: what is behind serves alone until it can. */
  readonly onFrontLost?: (error: unknown) => void;
  /** Lets time pass, and less of it when the signal says so. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const TRY_FRONT_EVERY_MS = 20_000;

/**
 * Two planes as one: both have every row. Whatever passes the first meets the second, so the second
 * is told first of what is new, unless clients are to stay with an endpoint, and is the last to go.
 */
export class ComposedPlane implements DataPlane {
  readonly mode: string;
  readonly rowsPerStep?: number;
  readonly objectsPerStep?: number;
  readonly applyPart?: (change: Change) => Promise<'unfinished' | 'finished'>;
  readonly #front: DataPlane;
  readonly #behind: DataPlane;
  readonly #onFrontLost: (error: unknown) => void;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Why the front has nothing and is told nothing. It costs speed and no connection. */
  #frontLost: unknown;
  readonly #halfKnown: HalfKnown = { onlyInFront: new Map(), onlyBehind: new Map() };
  readonly #parts: ComposedParts;
  /** A change could not be taken back: what the planes have only a look can tell. */
  #isUncertain = false;
  #onDrift: ((drift: Drift) => void) | undefined;

  constructor(parts: ComposedPlaneParts) {
    const { mode, front, behind } = parts;
    this.mode = mode;
    this.#front = front;
    this.#behind = behind;
    this.#onFrontLost = parts.onFrontLost ?? (() => undefined);
    this.#sleep = parts.sleep ?? sleep;
    this.#parts = new ComposedParts({
      front,
      behind,
      halfKnown: this.#halfKnown,
      rollBack: (plane, changes) => this.#takeBack({ plane, changes }),
    });
    if (behind.rowsPerStep !== undefined) this.rowsPerStep = behind.rowsPerStep;
    if (behind.objectsPerStep !== undefined) this.objectsPerStep = behind.objectsPerStep;
    if (behind.applyPart !== undefined) this.applyPart = (change) => this.#applyPart(change);
  }

  async inspect(desired: Desired, depth: 'everything' | 'suspects'): Promise<Inspection> {
    // The rows are to be read once, and two planes read them.
    const rows = [...desired.rows];
    const again = { facts: desired.facts, rows };
    const needed = this.#isUncertain ? 'everything' : depth;
    this.#parts.forget();
    const behind = await this.#behind.inspect(again, needed);
    const front = await this.#inspectFront(again, needed);
    this.#isUncertain = false;
    this.#halfKnown.onlyInFront = rowsOf(rows, front.right.difference(behind.right));
    this.#halfKnown.onlyBehind = rowsOf(rows, behind.right.difference(front.right));
    return {
      right: behind.right.intersection(front.right),
      differences: [...behind.differences, ...front.differences],
      differenceCount: behind.differenceCount + front.differenceCount,
      writeCount: behind.writeCount + front.writeCount,
    };
  }

  async configure(facts: NodeFacts): Promise<void> {
    await this.#behind.configure(facts);
    if (this.#frontLost === undefined) await this.#front.configure(facts);
  }

  /** What one of them refuses is taken back from the other: it is one transaction, or none. */
  async apply(changes: readonly Change[]): Promise<void> {
    if (this.#isUncertain) throw uncertain();
    const { onlyInFront, onlyBehind } = this.#halfKnown;
    const isLost = this.#frontLost !== undefined;
    const front = isLost ? [] : withKnown(changes, onlyInFront);
    const first = new Set(goingFirst(front));
    await this.#inTurn([
      { plane: this.#front, changes: [...first] },
      { plane: this.#behind, changes: withKnown(changes, onlyBehind) },
      { plane: this.#front, changes: front.filter((change) => !first.has(change)) },
    ]);
    for (const { key } of changes) {
      onlyBehind.delete(key);
      onlyInFront.delete(key);
    }
  }

  async #applyPart(change: Change): Promise<'unfinished' | 'finished'> {
    if (this.#isUncertain) throw uncertain();
    return await this.#parts.apply(change, this.#frontLost === undefined ? 'there' : 'lost');
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    const again = { facts: desired.facts, rows: [...desired.rows] };
    return [...(await this.#behind.diff(again)), ...(await this.#front.diff(again))];
  }

  /** The first that ends ends the other: nobody would know that half of the watch is gone. */
  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    this.#onDrift = onDrift;
    const one = new AbortController();
    const either = AbortSignal.any([signal, one.signal]);
    const watches = [
      this.#behind.watch(onDrift, either),
      this.#front.watch(onDrift, either),
      this.#askForFront(onDrift, either),
    ].map((watch) => watch.finally(() => one.abort()));
    const ended = await Promise.allSettled(watches);
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** A connection is counted where it was translated, so the two add up. */
  async counters(): Promise<readonly EndpointCount[]> {
    const sums = new Map<string, EndpointCount>();
    for (const plane of [this.#behind, this.#front]) {
      for (const count of await plane.counters()) {
        const id = `${count.service} ${count.endpoint}`;
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

  /** A client is remembered where it was translated. */
  async affinityFill(): Promise<AffinityFill> {
    const fills = [await this.#behind.affinityFill?.(), await this.#front.affinityFill?.()];
    const known = fills.filter((fill) => fill !== undefined);
    const sum = (of: (fill: AffinityFill) => number) =>
      known.reduce((total, fill) => total + of(fill), 0);
    const full = new Set(known.flatMap((fill) => fill.full));
    return {
      remembered: sum(({ remembered }) => remembered),
      room: sum(({ room }) => room),
      full: [...full].sort(),
    };
  }

  async attachments(): Promise<readonly Attachment[]> {
    const behind = (await this.#behind.attachments?.()) ?? [];
    return [...((await this.#front.attachments?.()) ?? []), ...behind];
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

  /** A front that cannot be looked at is taken away, or it would answer from what it once was told. */
  async #inspectFront(
    desired: Desired & { readonly rows: readonly Forwarding[] },
    depth: 'everything' | 'suspects',
  ): Promise<Inspection> {
    try {
      const isLost = this.#frontLost !== undefined;
      const found = await this.#front.inspect(desired, isLost ? 'everything' : depth);
      this.#frontLost = undefined;
      return found;
    } catch (error) {
      if (this.#frontLost === undefined) this.#onFrontLost(error);
      this.#frontLost = error ?? new Error('unknown error');
      const left = await this.#removeLost();
      const right = new Set(desired.rows.map(({ id }) => servicePortKey(id)));
      const differences = [missing(this.#front, error), ...left];
      return { right, differences, differenceCount: differences.length, writeCount: 0 };
    }
  }

  /** A look tries the front again, and who waits for a routine look waits long. */
  async #askForFront(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#sleep(TRY_FRONT_EVERY_MS, signal);
      if (signal.aborted || this.#frontLost === undefined) continue;
      onDrift({ what: `retrying ${this.#front.mode}, which could not be set up` });
    }
  }

  async #removeLost(): Promise<Difference[]> {
    try {
      await this.#front.remove();
      return [];
    } catch (error) {
      return [
        {
          kind: 'foreign',
          object: `leftovers of ${this.#front.mode} could not be removed: ${String(error)}`,
        },
      ];
    }
  }

  async #inTurn(steps: readonly Step[]): Promise<void> {
    const done: Step[] = [];
    for (const step of steps.filter(({ changes }) => changes.length > 0)) {
      try {
        await step.plane.apply(step.changes);
      } catch (error) {
        for (const each of done.toReversed()) await this.#takeBack(each);
        throw error;
      }
      done.push(step);
    }
  }

  /** Why it was refused matters more than why this failed, so it is told as something to look at. */
  async #takeBack({ plane, changes }: Step): Promise<void> {
    try {
      await plane.apply(changes.map(undone));
    } catch (error) {
      this.#isUncertain = true;
      const what = `rollback of a change in mode ${this.mode} failed: ${String(error)}`;
      this.#onDrift?.({ what });
    }
  }
}

interface Step {
  readonly plane: DataPlane;
  readonly changes: readonly Change[];
}

function missing({ mode }: DataPlane, error: unknown): Difference {
  return { kind: 'missing', object: `${mode}: ${String(error)}` };
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function uncertain(): PlaneError {
  return new PlaneError(
    'rollback failed; the state of the kernel is unknown until the next full inspection',
    {
      code: 'PLANE_UNCERTAIN',
      next: 'no action needed: the kernel is inspected, then the change is written again',
    },
  );
}
