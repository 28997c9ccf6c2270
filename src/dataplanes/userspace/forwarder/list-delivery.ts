import type { ListId, ThreadEndpoint, ToThread } from './messages.ts';

interface Receiver {
  send(message: ToThread): void;
}

type Rest = Map<number, ThreadEndpoint>;

/** A message of so many endpoints holds up both threads for some milliseconds. */
const PART_SIZE = 4_096;

/**
 * Sends lists to threads, long ones in parts, one in each event loop iteration: the thread chooses among
 * the first part meanwhile. A change of such a list is sent at once, except for what is still to be sent.
 */
export class ListDelivery {
  readonly #partSize: number;
  readonly #rests = new Map<ListId, Map<Receiver, Rest>>();
  #next: NodeJS.Immediate | undefined;

  constructor(partSize = PART_SIZE) {
    this.#partSize = partSize;
  }

  begin(thread: Receiver, list: ListId, endpoints: readonly ThreadEndpoint[]): void {
    thread.send({ tell: 'list', list, endpoints: endpoints.slice(0, this.#partSize) });
    if (endpoints.length <= this.#partSize) return;
    const rest: Rest = new Map(endpoints.slice(this.#partSize).map((each) => [each.slot, each]));
    const ofList = this.#rests.get(list) ?? new Map<Receiver, Rest>();
    this.#rests.set(list, ofList.set(thread, rest));
    this.#schedule();
  }

  /** The thread needs all of it: the main thread chooses for it. */
  complete(thread: Receiver, list: ListId): void {
    const rest = this.#rests.get(list)?.get(thread);
    if (rest === undefined) return;
    thread.send({ tell: 'list-change', list, added: [...rest.values()], removed: [] });
    this.stop(thread, list);
  }

  change(thread: Receiver, change: Extract<ToThread, { readonly tell: 'list-change' }>): void {
    const rest = this.#rests.get(change.list)?.get(thread);
    const removed = change.removed.filter((slot) => rest?.delete(slot) !== true);
    if (removed.length + change.added.length > 0) thread.send({ ...change, removed });
  }

  /** The list is gone for the thread. */
  stop(thread: Receiver, list: ListId): void {
    const ofList = this.#rests.get(list);
    ofList?.delete(thread);
    if (ofList?.size === 0) this.#rests.delete(list);
  }

  #schedule(): void {
    this.#next ??= setImmediate(() => {
      this.#next = undefined;
      this.#sendPart();
      if (this.#rests.size > 0) this.#schedule();
    });
  }

  #sendPart(): void {
    const [first] = this.#rests;
    const [receiver] = first?.[1] ?? [];
    if (first === undefined || receiver === undefined) return;
    const [list] = first;
    const [thread, rest] = receiver;
    const added = [...rest.values().take(this.#partSize)];
    for (const { slot } of added) rest.delete(slot);
    if (added.length > 0) thread.send({ tell: 'list-change', list, added, removed: [] });
    if (rest.size === 0) this.stop(thread, list);
  }
}
