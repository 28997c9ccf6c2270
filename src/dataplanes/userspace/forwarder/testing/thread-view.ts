import type { LookupThread } from '../lookups.ts';
import type { FrontendQuestion, Target, ThreadEndpoint, ToThread } from '../messages.ts';

/** What a copying thread knows from the messages that it got. Throws for one that makes no sense. */
export class ThreadView implements LookupThread {
  readonly messages: ToThread[] = [];
  readonly #targets = new Map<string, Target | null>();
  readonly #lists = new Map<number, Map<number, ThreadEndpoint>>();

  send(message: ToThread): void {
    this.messages.push(message);
    switch (message.tell) {
      case 'target':
        if (message.target !== null) this.#endpoints(message.target.list);
        this.#targets.set(nameOf(message.frontend), message.target);
        return;
      case 'list':
        if (this.#lists.has(message.list)) throw new Error(`list ${message.list} told twice`);
        this.#lists.set(message.list, new Map(message.endpoints.map((each) => [each.slot, each])));
        return;
      case 'list-change':
        for (const slot of message.removed) {
          if (!this.#endpoints(message.list).delete(slot)) throw new Error(`no slot ${slot}`);
        }
        for (const each of message.added) this.#endpoints(message.list).set(each.slot, each);
        return;
      case 'list-gone':
        this.#endpoints(message.list);
        this.#lists.delete(message.list);
    }
  }

  get listCount(): number {
    return this.#lists.size;
  }

  /** Undefined: not told. */
  target(question: FrontendQuestion): Target | null | undefined {
    return this.#targets.get(nameOf(question));
  }

  /** Where a connection may go, sorted. */
  endpoints(question: FrontendQuestion): string[] | undefined {
    const target = this.target(question);
    if (target === undefined || target === null) return undefined;
    const endpoints = [...this.#endpoints(target.list).values()];
    return endpoints.map(({ address, port }) => `${address} ${port}`).sort();
  }

  slotOf(question: FrontendQuestion, endpoint: string): number | undefined {
    const target = this.target(question);
    if (target === undefined || target === null) return undefined;
    const all = [...this.#endpoints(target.list).values()];
    return all.find(({ address, port }) => `${address} ${port}` === endpoint)?.slot;
  }

  #endpoints(list: number): Map<number, ThreadEndpoint> {
    const endpoints = this.#lists.get(list);
    if (endpoints === undefined) throw new Error(`list ${list} was not told`);
    return endpoints;
  }
}

function nameOf({ source, address, port }: FrontendQuestion): string {
  return `${source} ${address} ${port}`;
}
