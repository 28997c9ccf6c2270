import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import type { FlowQuestion } from '../linux/conntrack/question.ts';

/** Several flow tables as one: each removes the flows that it listed. */
export class JoinedFlows implements Conntrack {
  readonly #places: readonly Conntrack[];
  readonly #toldBy = new WeakMap<Flow, Conntrack>();

  constructor(places: readonly Conntrack[]) {
    this.#places = places;
  }

  filtersCheaply(): boolean {
    return this.#places.every((place) => place.filtersCheaply());
  }

  async *flows(question: FlowQuestion, signal: AbortSignal): AsyncGenerator<readonly Flow[]> {
    for (const place of this.#places) {
      for await (const flows of place.flows(question, signal)) {
        for (const flow of flows) this.#toldBy.set(flow, place);
        yield flows;
      }
    }
  }

  async remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    const removed: Flow[] = [];
    for (const place of this.#places) {
      const its = flows.filter((flow) => this.#toldBy.get(flow) === place);
      removed.push(...(await place.remove(its)));
    }
    return removed;
  }
}
