import type { Notice } from './event-object.ts';

/** Empty: Events on the Node. */
const namespaceOf = ({ service }: Notice): string => service?.namespace ?? '';

/**
 * Events that wait, in turns of their namespaces. When it is full, the namespace with the most loses
 * its newest one: a tenant with a thousand broken Services does not keep out the Event of another.
 */
export class EventQueue {
  readonly #most: number;
  readonly #onDropped: (notice: Notice) => void;
  /** In the order of their turns; none is empty. */
  readonly #lanes = new Map<string, Notice[]>();
  #size = 0;

  constructor(most: number, onDropped: (notice: Notice) => void) {
    this.#most = most;
    this.#onDropped = onDropped;
  }

  /** The next one. It stays until `done`. */
  get head(): Notice | undefined {
    const [lane] = this.#lanes.values();
    return lane?.[0];
  }

  add(notice: Notice): void {
    const namespace = namespaceOf(notice);
    const lane = this.#lanes.get(namespace) ?? [];
    if (this.#size >= this.#most && !this.#makeRoomFor(lane)) {
      this.#onDropped(notice);
      return;
    }
    lane.push(notice);
    this.#lanes.set(namespace, lane);
    this.#size++;
  }

  /** The head was handled; the next namespace has its turn. */
  done(): void {
    const [next] = this.#lanes;
    if (next === undefined) return;
    const [namespace, lane] = next;
    lane.shift();
    this.#size--;
    this.#lanes.delete(namespace);
    if (lane.length > 0) this.#lanes.set(namespace, lane);
  }

  /** From a lane with at least two: the head, which may be on its way, is not the newest of it. */
  #makeRoomFor(own: readonly Notice[]): boolean {
    let longest: Notice[] | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.length > (longest?.length ?? own.length + 1)) longest = lane;
    }
    const dropped = longest?.pop();
    if (dropped === undefined) return false;
    this.#size--;
    this.#onDropped(dropped);
    return true;
  }
}
