import type { ServicePortKey } from '../forwarding/model.ts';
import { goingFirst } from './composed-changes.ts';
import { type Applied, type DataPlane, PlaneError, type RowChange } from './contract.ts';
import type { Halves } from './halves.ts';

export interface ComposedPartsOptions {
  readonly front: DataPlane;
  readonly behind: DataPlane;
  readonly halves: Halves;
  readonly rollBack: (plane: DataPlane, changes: readonly RowChange[]) => Promise<void>;
}

interface Begun {
  /** As the caller named it. */
  readonly change: RowChange;
  readonly behind: RowChange;
  /** Undefined: the front is lost, and nothing is written to it. */
  readonly front: RowChange | undefined;
  /** Whether the front has all of it already. */
  readonly isFirstInFront: boolean;
}

/**
 * Large rows of two planes: the one behind gets them in parts, the front all at once, before the
 * first part where a row goes to the front first, otherwise after the last. When one of them
 * rejects, it is noted what each of them has.
 */
export class ComposedParts {
  readonly #options: ComposedPartsOptions;
  readonly #begun = new Map<ServicePortKey, Begun>();

  constructor(options: ComposedPartsOptions) {
    this.#options = options;
  }

  /** An inspection begins: the plane behind forgets which part is next. */
  forget(): void {
    for (const { change, front, isFirstInFront } of this.#begun.values()) {
      const inFront = isFirstInFront ? front?.after : front?.before;
      this.#options.halves.note(change.key, inFront === undefined ? {} : { front: inFront });
    }
    this.#begun.clear();
  }

  async apply(change: RowChange, front: 'there' | 'lost'): Promise<'unfinished' | 'finished'> {
    const { key } = change;
    const known = this.#begun.get(key);
    const begun = known?.change === change ? known : await this.#begin(change, front);
    const state = await this.#applyBehind(begun);
    if (state === 'unfinished') return state;
    if (!begun.isFirstInFront) await this.#applyFront(begun, change.after ?? 'absent');
    this.#begun.delete(key);
    this.#options.halves.written(change);
    return state;
  }

  async #begin(change: RowChange, front: 'there' | 'lost'): Promise<Begun> {
    const { halves } = this.#options;
    const behind = halves.changeFor('behind', change);
    const inFront = front === 'there' ? [halves.changeFor('front', change)] : [];
    const first = goingFirst(inFront);
    const begun = { change, behind, front: inFront[0], isFirstInFront: first.length > 0 };
    if (begun.isFirstInFront) await this.#applyFront(begun, behind.before);
    this.#begun.set(change.key, begun);
    return begun;
  }

  async #applyBehind(begun: Begun): Promise<'unfinished' | 'finished'> {
    const { behind, front, rollBack, halves } = this.#options;
    try {
      if (behind.applyPart !== undefined) return await behind.applyPart(begun.behind);
      await behind.apply([begun.behind]);
      return 'finished';
    } catch (error) {
      this.#begun.delete(begun.change.key);
      halves.note(begun.change.key, begun.front === undefined ? {} : { front: begun.front.before });
      if (begun.front !== undefined && begun.isFirstInFront) await rollBack(front, [begun.front]);
      throw error;
    }
  }

  /** `behind`: the state of the plane behind after its write. */
  async #applyFront({ change: { key }, front }: Begun, behind: Applied): Promise<void> {
    if (front === undefined) return;
    try {
      await this.#options.front.apply([front]);
    } catch (error) {
      this.#begun.delete(key);
      const isUnknown = error instanceof PlaneError && error.unknown?.has(key);
      this.#options.halves.note(key, { front: isUnknown ? 'unknown' : front.before, behind });
      throw error;
    }
  }
}
