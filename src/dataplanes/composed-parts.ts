import type { ServicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { goingFirst, type HalfKnown, type Rows, withKnown } from './composed-changes.ts';
import type { DataPlane } from './contract.ts';

export interface ComposedPartsOptions {
  readonly front: DataPlane;
  readonly behind: DataPlane;
  readonly halfKnown: HalfKnown;
  readonly rollBack: (plane: DataPlane, changes: readonly Change[]) => Promise<void>;
}

interface Begun {
  /** As the agent named it. */
  readonly change: Change;
  readonly behind: Change;
  /** Undefined: there is no front to tell. */
  readonly front: Change | undefined;
  /** Whether the front has all of it already. */
  readonly isFirstInFront: boolean;
}

/**
 * Large rows of two planes: the one behind gets them in parts, the front all at once, before the
 * first part where a row goes to the front first, otherwise after the last. When one of them
 * refuses, what each of them has is noted, so that the next change of the row tells it to each.
 */
export class ComposedParts {
  readonly #options: ComposedPartsOptions;
  readonly #begun = new Map<ServicePortKey, Begun>();

  constructor(options: ComposedPartsOptions) {
    this.#options = options;
  }

  /** An inspection begins: the plane behind forgets which part is next. */
  forget(): void {
    for (const begun of this.#begun.values()) this.#noteFront(begun);
    this.#begun.clear();
  }

  async apply(change: Change, front: 'there' | 'lost'): Promise<'unfinished' | 'finished'> {
    const { key } = change;
    const known = this.#begun.get(key);
    const begun = known?.change === change ? known : await this.#begin(change, front);
    const state = await this.#applyBehind(begun);
    if (state === 'unfinished') return state;
    await this.#applyInFront(begun);
    this.#begun.delete(key);
    this.#options.halfKnown.onlyBehind.delete(key);
    this.#options.halfKnown.onlyInFront.delete(key);
    return state;
  }

  async #begin(change: Change, front: 'there' | 'lost'): Promise<Begun> {
    const { halfKnown } = this.#options;
    const [behind = change] = withKnown([change], halfKnown.onlyBehind);
    const inFront = front === 'there' ? withKnown([change], halfKnown.onlyInFront) : [];
    const first = goingFirst(inFront);
    if (first.length > 0) await this.#options.front.apply(first);
    const begun = { change, behind, front: inFront[0], isFirstInFront: first.length > 0 };
    this.#begun.set(change.key, begun);
    return begun;
  }

  async #applyBehind(begun: Begun): Promise<'unfinished' | 'finished'> {
    const { behind, front, rollBack } = this.#options;
    try {
      if (behind.applyPart !== undefined) return await behind.applyPart(begun.behind);
      await behind.apply([begun.behind]);
      return 'finished';
    } catch (error) {
      this.#begun.delete(begun.change.key);
      // From now on the plane behind remembers what is there of the row.
      this.#options.halfKnown.onlyBehind.delete(begun.change.key);
      if (begun.front !== undefined && begun.isFirstInFront) await rollBack(front, [begun.front]);
      else this.#noteFront(begun);
      throw error;
    }
  }

  async #applyInFront(begun: Begun): Promise<void> {
    if (begun.front === undefined || begun.isFirstInFront) return;
    try {
      await this.#options.front.apply([begun.front]);
    } catch (error) {
      this.#begun.delete(begun.change.key);
      note(this.#options.halfKnown.onlyBehind, begun.change.key, begun.change.after);
      this.#noteFront(begun);
      throw error;
    }
  }

  #noteFront({ change: { key }, front, isFirstInFront }: Begun): void {
    if (front === undefined) return;
    note(this.#options.halfKnown.onlyInFront, key, isFirstInFront ? front.after : front.before);
  }
}

function note(rows: Rows, key: ServicePortKey, row: Change['after']): void {
  if (row === undefined) rows.delete(key);
  else rows.set(key, row);
}
