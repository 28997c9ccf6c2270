/** How long rows keep their places while they are the same ones. */
const HOLD_MS = 8000;

/** Keeps rows in their places for some seconds, so that they can be read and clicked. */
export class StableOrder {
  #ids: readonly string[] = [];
  #since = Number.NEGATIVE_INFINITY;

  order<T extends { readonly id: string }>(items: readonly T[], nowMs: number): readonly T[] {
    const byId = new Map(items.map((item) => [item.id, item]));
    const isSame = byId.size === this.#ids.length && this.#ids.every((id) => byId.has(id));
    if (!isSame || nowMs - this.#since > HOLD_MS) {
      this.#ids = items.map(({ id }) => id);
      this.#since = nowMs;
      return items;
    }
    return this.#ids.flatMap((id) => byId.get(id) ?? []);
  }
}
