import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Forwarding, ServicePortId } from '../forwarding/model.ts';
import { addressText } from '../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import { endpointKey, type FrontendKey } from './flow-keys.ts';
import type { Deleted, FlowObserver } from './flow-observer.ts';
import { questionsFor, type Wanted } from './questions.ts';
import { type Grounds, Judge, type StaleVerdict } from './verdict.ts';

/** Flows buffered at a time, half a megabyte; then they are deleted and reading continues. */
const MOST_HELD = 1024;
/** Flows evaluated and deleted per event loop iteration: a millisecond. */
const DELETED_AT_ONCE = 128;
/**
 * Between a commit and its acknowledgement, flows to a new endpoint look stale. A flow that is
 * still stale after this time and all pending acknowledgements is stale.
 */
const SETTLE_MS = 5;

export interface PassParts {
  readonly conntrack: Conntrack;
  readonly observer: FlowObserver;
  readonly grounds: Grounds;
  /** Called for each connection attempt that may still be answered. */
  readonly onYoungTry: (flow: Flow, row: Forwarding) => void;
}

export interface PassResult {
  seen: number;
  deleted: number;
  draining: number;
  youngTries: number;
  readonly drainingKeys: Set<FrontendKey>;
}

/** One pass over the flows of some frontends: stale flows are deleted. */
export class Pass {
  readonly #parts: PassParts;
  readonly #judge: Judge;
  readonly #result: PassResult = {
    ...{ seen: 0, deleted: 0, draining: 0, youngTries: 0 },
    drainingKeys: new Set(),
  };
  #held: Flow[] = [];

  constructor(parts: PassParts) {
    this.#parts = parts;
    this.#judge = new Judge(parts.grounds);
  }

  /** Rejects when the kernel fails; `result` has what was done before. */
  async run(wanted: Wanted, signal: AbortSignal): Promise<void> {
    const { conntrack } = this.#parts;
    for (const question of questionsFor(wanted, conntrack.filtersCheaply())) {
      for await (const flows of conntrack.flows(question, signal)) {
        this.#hold(flows);
        if (this.#held.length >= MOST_HELD) await this.#deleteHeld(signal);
      }
    }
    await this.#deleteHeld(signal);
  }

  get result(): Readonly<PassResult> {
    return this.#result;
  }

  #hold(flows: readonly Flow[]): void {
    this.#result.seen += flows.length;
    for (const flow of flows) {
      const verdict = this.#judge.judge(flow);
      if (verdict.is === 'stale') this.#held.push(flow);
      else if (verdict.is === 'draining') {
        this.#result.draining++;
        this.#result.drainingKeys.add(verdict.key);
      } else if (verdict.is === 'young try') {
        this.#result.youngTries++;
        this.#parts.onYoungTry(flow, verdict.row);
      }
    }
  }

  async #deleteHeld(signal: AbortSignal): Promise<void> {
    const held = this.#held;
    this.#held = [];
    if (held.length === 0) return;
    await delay(SETTLE_MS, undefined, { signal });
    await nextTurn();
    const tally = new Tally();
    for (let from = 0; from < held.length; from += DELETED_AT_ONCE) {
      await this.#deleteStale(held.slice(from, from + DELETED_AT_ONCE), tally);
    }
    for (const deleted of tally.all()) {
      this.#result.deleted += deleted.count;
      this.#parts.observer.onDeleted(deleted);
    }
  }

  /** Evaluates again: flows that became valid meanwhile are kept. */
  async #deleteStale(flows: readonly Flow[], tally: Tally): Promise<void> {
    const stale = new Map<Flow, StaleVerdict>();
    for (const flow of flows) {
      const verdict = this.#judge.judge(flow);
      if (verdict.is === 'stale') stale.set(flow, verdict);
    }
    for (const flow of await this.#parts.conntrack.remove([...stale.keys()])) {
      tally.count(flow, stale.get(flow) as StaleVerdict);
    }
  }
}

interface Counted {
  readonly example: Flow;
  readonly verdict: StaleVerdict;
  count: number;
}

/** Counts deleted flows by Service, reason and endpoint. */
class Tally {
  readonly #counts = new Map<ServicePortId, Map<string, Counted>>();

  count(flow: Flow, verdict: StaleVerdict): void {
    const ofService = this.#counts.get(verdict.id) ?? new Map<string, Counted>();
    this.#counts.set(verdict.id, ofService);
    const key = verdict.reason + endpointKey(flow.reply.source, flow.reply.sourcePort);
    const counted = ofService.get(key) ?? { example: flow, verdict, count: 0 };
    ofService.set(key, counted);
    counted.count++;
  }

  all(): Deleted[] {
    const counts = [...this.#counts.values()].flatMap((ofService) => [...ofService.values()]);
    return counts.map(({ example, verdict: { id, reason }, count }) => ({
      service: id,
      reason,
      endpoint: endpointText(example),
      count,
    }));
  }
}

function endpointText({ version, reply }: Flow): string {
  const address = addressText(reply.source);
  return `${version === 6 ? `[${address}]` : address}:${reply.sourcePort}`;
}
