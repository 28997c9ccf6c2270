import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import { sleep } from '../time/sleep.ts';
import { goingFirst, reversed } from './composed-changes.ts';
import { ComposedParts } from './composed-parts.ts';
import {
  type DataPlane,
  type Desired,
  type Difference,
  type Drift,
  type Fallback,
  type Inspection,
  type InspectionDepth,
  type NodeFacts,
  PlaneError,
  type ReadingKey,
  type Readings,
  type RowChange,
} from './contract.ts';
import { type Half, Halves } from './halves.ts';
import { MERGED } from './merged-readings.ts';

export interface ComposedPlaneParts {
  readonly mode: string;
  /** Translates what it can and lets all other connections pass. */
  readonly front: DataPlane;
  /** Translates everything that reaches it. */
  readonly behind: DataPlane;
  /** The front cannot be used: fall back to the plane behind until it can. */
  readonly onFrontLost?: (error: unknown) => void;
  /** Resolves after the time, or when the signal is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const RETRY_FRONT_EVERY_MS = 20_000;

/**
 * Two planes as one: both have every row. A connection that the front does not translate reaches the
 * plane behind, so rows are added behind first (rows with affinity excepted) and removed there last.
 */
export class ComposedPlane implements DataPlane {
  readonly mode: string;
  readonly rowsPerStep?: number;
  readonly objectsPerStep?: number;
  readonly applyPart?: (change: RowChange) => Promise<'unfinished' | 'finished'>;
  readonly #front: DataPlane;
  readonly #behind: DataPlane;
  readonly #onFrontLost: (error: unknown) => void;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Why the front has no rows and gets none. It costs speed and no connection. */
  #frontLost: unknown;
  readonly #halves = new Halves();
  readonly #parts: ComposedParts;
  /** A rollback failed: only an inspection can tell what the planes have. */
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
      halves: this.#halves,
      rollBack: (plane, changes) => this.#rollBack(plane, changes),
    });
    if (behind.rowsPerStep !== undefined) this.rowsPerStep = behind.rowsPerStep;
    if (behind.objectsPerStep !== undefined) this.objectsPerStep = behind.objectsPerStep;
    if (behind.applyPart !== undefined) this.applyPart = (change) => this.#applyPart(change);
  }

  async inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
    const needed = this.#isUncertain ? 'everything' : depth;
    this.#parts.forget();
    const behind = await this.#behind.inspect(desired, needed);
    const front = await this.#inspectFront(desired, needed);
    this.#isUncertain = false;
    this.#halves.inspected(desired.rows, { front, behind });
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

  /** A change that one plane rejects is rolled back in the other: one transaction, or none. */
  async apply(changes: readonly RowChange[]): Promise<void> {
    if (this.#isUncertain) throw uncertain();
    const isLost = this.#frontLost !== undefined;
    const front = isLost ? [] : changes.map((each) => this.#halves.changeFor('front', each));
    const behind = changes.map((each) => this.#halves.changeFor('behind', each));
    const first = new Set(goingFirst(front));
    await this.#inOrder([
      { half: 'front', changes: [...first] },
      { half: 'behind', changes: behind },
      { half: 'front', changes: front.filter((change) => !first.has(change)) },
    ]);
    for (const change of changes) this.#halves.written(change);
  }

  async #applyPart(change: RowChange): Promise<'unfinished' | 'finished'> {
    if (this.#isUncertain) throw uncertain();
    return await this.#parts.apply(change, this.#frontLost === undefined ? 'there' : 'lost');
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    return [...(await this.#behind.diff(desired)), ...(await this.#front.diff(desired))];
  }

  /** A watch that ends aborts the others, so that the caller learns of it and starts all of them again. */
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

  async read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined> {
    if (key === 'fallback') return this.#fallback() as Readings[K] | undefined;
    const behind = await this.#behind.read(key, rows);
    const front = await this.#front.read(key, rows);
    if (front === undefined || behind === undefined) return front ?? behind;
    return MERGED[key](front, behind);
  }

  #fallback(): Fallback | undefined {
    const error = this.#frontLost;
    if (error === undefined) return undefined;
    return { from: this.#front.mode, to: this.#behind.mode, error };
  }

  async remove(): Promise<void> {
    await this.#front.remove();
    await this.#behind.remove();
  }

  /** The front first: what it passes from then on must still be translated behind. */
  async release(): Promise<void> {
    await this.#front.release?.();
    await this.#behind.release?.();
  }

  /** A front that cannot be inspected is removed, or it would go on translating to old endpoints. */
  async #inspectFront(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
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

  /** An inspection retries the front, and the next periodic one may be far away: request one. */
  async #askForFront(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#sleep(RETRY_FRONT_EVERY_MS, signal);
      if (signal.aborted || this.#frontLost === undefined) continue;
      onDrift({ what: `retrying ${this.#front.mode}, which could not be set up`, isOwn: true });
    }
  }

  async #removeLost(): Promise<Difference[]> {
    try {
      // What was established goes on, where that is in the hands of the front.
      await (this.#front.retire ? this.#front.retire() : this.#front.remove());
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

  /** One after the other. Completed steps are rolled back when a later one is rejected. */
  async #inOrder(steps: readonly Step[]): Promise<void> {
    const done: Step[] = [];
    for (const step of steps.filter(({ changes }) => changes.length > 0)) {
      try {
        await this.#planeOf(step.half).apply(step.changes);
      } catch (error) {
        this.#noteUnknown(step, steps, error);
        for (const { half, changes } of done.toReversed()) {
          await this.#rollBack(this.#planeOf(half), changes);
        }
        throw error;
      }
      done.push(step);
    }
  }

  /** The rejecting plane may have a part of these rows; the other one gets back what it had. */
  #noteUnknown(rejected: Step, steps: readonly Step[], error: unknown): void {
    const unknown = error instanceof PlaneError ? error.unknown : undefined;
    if (unknown === undefined) return;
    const other = rejected.half === 'front' ? 'behind' : 'front';
    const changes = steps.filter(({ half }) => half === other).flatMap((step) => step.changes);
    const before = new Map(changes.map((change) => [change.key, change.before]));
    for (const key of unknown) this.#halves.note(key, { [other]: before.get(key) ?? 'unknown' });
  }

  /** The caller must learn why the change was rejected, so a failed rollback is reported as drift. */
  async #rollBack(plane: DataPlane, changes: readonly RowChange[]): Promise<void> {
    try {
      await plane.apply(changes.map(reversed));
    } catch (error) {
      this.#isUncertain = true;
      const what = `rollback of a change in mode ${this.mode} failed: ${String(error)}`;
      this.#onDrift?.({ what, isOwn: true });
    }
  }

  #planeOf(half: Half): DataPlane {
    return half === 'front' ? this.#front : this.#behind;
  }
}

interface Step {
  readonly half: Half;
  readonly changes: readonly RowChange[];
}

function missing({ mode }: DataPlane, error: unknown): Difference {
  return { kind: 'missing', object: `${mode}: ${String(error)}` };
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
