interface Remembered {
  readonly slot: number;
  readonly renewedAtMs: number;
}

/**
 * The clients of one list of endpoints. In the order in which they were renewed, so that the first one
 * is the first to expire: no timer for a client, and no search.
 */
export class AffinityList {
  readonly #clients = new Map<string, Remembered>();
  readonly #clientsOfSlot = new Map<number, Set<string>>();

  get size(): number {
    return this.#clients.size;
  }

  /** Undefined: not remembered, or too long ago. */
  slotOf(client: string, notBeforeMs: number): number | undefined {
    const known = this.#clients.get(client);
    return known === undefined || known.renewedAtMs < notBeforeMs ? undefined : known.slot;
  }

  has(client: string): boolean {
    return this.#clients.has(client);
  }

  remember(client: string, { slot, renewedAtMs }: Remembered): void {
    this.forget(client);
    this.#clients.set(client, { slot, renewedAtMs });
    const ofSlot = this.#clientsOfSlot.get(slot);
    if (ofSlot === undefined) this.#clientsOfSlot.set(slot, new Set([client]));
    else ofSlot.add(client);
  }

  forget(client: string): void {
    const known = this.#clients.get(client);
    if (known === undefined) return;
    this.#clients.delete(client);
    const ofSlot = this.#clientsOfSlot.get(known.slot);
    ofSlot?.delete(client);
    if (ofSlot?.size === 0) this.#clientsOfSlot.delete(known.slot);
  }

  /** How many there were. Its cost is that of these clients. */
  forgetSlot(slot: number): number {
    const clients = this.#clientsOfSlot.get(slot);
    if (clients === undefined) return 0;
    for (const client of clients) this.#clients.delete(client);
    this.#clientsOfSlot.delete(slot);
    return clients.size;
  }

  /** Forgets the first ones that were renewed before; at most so many. Returns how many. */
  expire(beforeMs: number, most: number): number {
    let count = 0;
    for (const [client, { renewedAtMs }] of this.#clients) {
      if (renewedAtMs >= beforeMs || count >= most) break;
      this.forget(client);
      count++;
    }
    return count;
  }

  *entries(): Generator<readonly [client: string, remembered: Remembered]> {
    yield* this.#clients;
  }
}
