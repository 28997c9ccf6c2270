import {
  type Endpoint,
  FAMILIES,
  type Family,
  type Forwarding,
  type ServicePortId,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { addressBytes, addressText } from '../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import { synSentSeconds } from '../linux/conntrack/syn-sent-seconds.ts';
import { systemClock } from '../time/clock.ts';
import { sleep } from '../time/sleep.ts';
import { Wake } from '../time/wake.ts';
import { BegunFrontends, BegunRows } from './begun.ts';
import { IP_VERSIONS } from './flow-keys.ts';
import type { FlowObserver } from './flow-observer.ts';
import { FrontendIndex } from './frontend-index.ts';
import { addNeed, type Needs, putBack } from './needs.ts';
import { Pass } from './pass.ts';
import type { Wanted } from './questions.ts';
import type { Grounds, TryGrounds } from './verdict.ts';
import { isLeftUnanswered, YoungTries } from './young-tries.ts';

/** Packets that matched the old rules may still be in flight when the new ones are acknowledged. */
const SETTLE_MS = 5;
/**
 * Pause after each pass for as long as it took: under continuous changes passes take half of the
 * time.
 */
const MOST_REST_MS = 2000;
const DRAIN_RECHECK_MS = 5000;
const FIRST_RETRY_MS = 100;
const MOST_RETRY_MS = 30_000;

/** Whether an endpoint that gets no new flows still serves its old ones. */
export type IsServing = (
  id: ServicePortId,
  endpoint: Pick<Endpoint, 'address' | 'port'>,
) => boolean;

export interface FlowOptions {
  readonly isServing?: IsServing;
}

export interface FlowReconcilerParts {
  readonly conntrack: Conntrack;
  /** The current node port addresses. */
  readonly nodePortAddresses: () => readonly string[];
  /** The only addresses whose packets certainly match the rules; undefined: all. */
  readonly clientAddresses?: () => readonly string[] | undefined;
  readonly observer: FlowObserver;
  readonly options: FlowOptions;
  /** Delay before flows of endpoints that still serve are checked again. */
  readonly drainRecheckMs?: number;
  /** Conntrack timeout of SYN_SENT. */
  readonly synSentSeconds?: () => number;
}

/**
 * Deletes conntrack entries of removed endpoints after the kernel has acknowledged the removal,
 * without delaying the next change.
 */
export class FlowReconciler {
  readonly #parts: FlowReconcilerParts;
  readonly #index = new FrontendIndex();
  readonly #wake = new Wake();
  #needs: Needs = new Map();
  /** TCP rows that may have connection attempts older than their rules. */
  #begun = new BegunRows();
  /** Frontends with flows to endpoints that still serve, inspected again when these change or are due. */
  #draining: Needs = new Map();
  #drainsDueAtMs = 0;
  /** Their Services: `namespace/name`. */
  readonly #drainingServices = new Set<string>();
  /**
   * Services whose endpoints changed while flows are evaluated; an undefined element: any Service.
   */
  #changedMeanwhile: Set<string | undefined> | undefined;
  #young = new YoungTries(0);

  constructor(parts: FlowReconcilerParts) {
    this.#parts = parts;
  }

  /** Replaces all rows: once at the start, and whenever they are in doubt. */
  adopt(rows: Iterable<Forwarding>): void {
    const all = [...rows];
    this.#begun.adopt(all);
    this.#need(this.#index.adopt(all));
  }

  /** The kernel has acknowledged these changes. */
  acknowledged(changes: readonly Change[]): void {
    this.#begun.note(changes);
    this.#young.rows.follow(changes);
    this.#need(this.#index.acknowledge(changes));
  }

  /** The node port addresses changed, or a routine pass is due. */
  reconsiderAll(): void {
    this.#need(this.#index.everything());
  }

  /**
   * The endpoints of a Service changed; undefined: of an unknown Service. An endpoint may stop
   * serving without a change of any rule.
   */
  endpointsChanged(service: string | undefined): void {
    this.#changedMeanwhile?.add(service);
    if (service === undefined || this.#drainingServices.has(service)) this.#lookAtDrainingNow();
  }

  /** Runs until the signal is aborted. Must not be called again before that. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    let restUntilMs = 0;
    while (!signal.aborted) {
      const dueInMs = this.#untilDueMs();
      const limit = dueInMs === undefined ? undefined : { ms: dueInMs, clock: systemClock };
      await this.#wake.wait(signal, limit);
      const restMs = restUntilMs - performance.now();
      await sleep(failures === 0 ? Math.max(SETTLE_MS, restMs) : retryMs(failures), signal);
      if (signal.aborted) return;
      const beganAtMs = performance.now();
      const isDone = await this.#lookAtEverythingNeeded(signal);
      failures = isDone ? 0 : failures + 1;
      const endedAtMs = performance.now();
      restUntilMs = endedAtMs + Math.min(endedAtMs - beganAtMs, MOST_REST_MS);
    }
  }

  #lookAtDrainingNow(): void {
    if (this.#draining.size === 0) return;
    this.#drainsDueAtMs = performance.now();
    this.#wake.call();
  }

  #need(needs: Needs): void {
    for (const [key, need] of needs) addNeed(this.#needs, key, need);
    if (this.#needs.size > 0 || this.#begun.size > 0) this.#wake.call();
  }

  /** Time until kept flows must be checked again; undefined: none. */
  #untilDueMs(): number | undefined {
    const drainsDueAtMs = this.#draining.size === 0 ? Infinity : this.#drainsDueAtMs;
    const dueAtMs = Math.min(drainsDueAtMs, this.#young.dueAtMs);
    return dueAtMs === Infinity ? undefined : Math.max(0, dueAtMs - performance.now());
  }

  /** Returns whether it succeeded. */
  async #lookAtEverythingNeeded(signal: AbortSignal): Promise<boolean> {
    const nowMs = performance.now();
    if (this.#draining.size > 0 && nowMs >= this.#drainsDueAtMs) {
      this.#needs = putBack(this.#needs, this.#draining);
      this.#draining = new Map();
      this.#drainingServices.clear();
    }
    const known = this.#young;
    if (nowMs >= known.dueAtMs) {
      this.#begun.putBack(known.rows);
      this.#young = new YoungTries(nowMs);
    }
    const taken: Taken = { needs: this.#needs, begun: this.#begun, known };
    if (taken.needs.size === 0 && taken.begun.size === 0) return true;
    this.#needs = new Map();
    this.#begun = new BegunRows();
    if (await this.#lookAt(taken, signal)) return true;
    this.#needs = putBack(this.#needs, taken.needs);
    this.#begun.putBack(taken.begun);
    this.#wake.call();
    return false;
  }

  async #lookAt({ needs, begun, known }: Taken, signal: AbortSignal): Promise<boolean> {
    const { conntrack, observer } = this.#parts;
    const startedAtMs = performance.now();
    this.#changedMeanwhile = new Set();
    let pass: Pass | undefined;
    let failure: { error?: unknown } = {};
    try {
      const wanted = { needs, begun, known };
      const onYoungTry = (flow: Flow, row: Forwarding): void =>
        this.#young.add(flow, { row, seenAtMs: known.seenAtMs(flow) ?? performance.now() });
      pass = new Pass({ conntrack, observer, onYoungTry, grounds: this.#groundsFor(wanted) });
      await pass.run(wanted, signal);
      this.#lookAgainLater(pass.result.drainingKeys, needs);
    } catch (error) {
      if (signal.aborted) return false;
      failure = { error };
    }
    this.#changedMeanwhile = undefined;
    const { seen = 0, deleted = 0, draining = 0, youngTries = 0 } = pass?.result ?? {};
    observer.onRun({
      families: familiesOf({ needs, begun }),
      durationMs: performance.now() - startedAtMs,
      frontends: needs.size,
      ...{ seen, deleted, draining, youngTries },
      ...failure,
    });
    return !('error' in failure);
  }

  #lookAgainLater(keys: ReadonlySet<string>, needs: Needs): void {
    const waitMs = this.#parts.drainRecheckMs ?? DRAIN_RECHECK_MS;
    for (const key of keys) {
      const need = needs.get(key);
      if (need === undefined) continue;
      if (this.#draining.size === 0) this.#drainsDueAtMs = performance.now() + waitMs;
      addNeed(this.#draining, key, need);
      const id = this.#index.owner(key)?.id;
      if (id !== undefined) this.#drainingServices.add(`${id.namespace}/${id.service}`);
    }
    const changed = this.#changedMeanwhile ?? new Set();
    if (changed.has(undefined) || !changed.isDisjointFrom(this.#drainingServices)) {
      this.#lookAtDrainingNow();
    }
  }

  #groundsFor({ needs, begun, known }: Taken): Grounds {
    const { options, nodePortAddresses } = this.#parts;
    const asksForNodePorts = begun.size > 0 || hasNodePort(needs);
    const addresses = new Set(
      asksForNodePorts ? nodePortAddresses().flatMap((text) => addressBytes(text) ?? []) : [],
    );
    const isNodePortAddress = (address: string): boolean => addresses.has(address);
    const clientAddresses = this.#parts.clientAddresses?.();
    const clients =
      clientAddresses && new Set(clientAddresses.flatMap((text) => addressBytes(text) ?? []));
    return {
      needs,
      owner: (key) => this.#index.owner(key),
      isNodePortAddress,
      ...(clients ? { isClient: (address) => clients.has(address) } : {}),
      tries: this.#tryGrounds(new BegunFrontends(begun, isNodePortAddress), known),
      isServing: (id, { address, port }) =>
        options.isServing?.(id, { address: addressText(address), port }) ?? false,
    };
  }

  #tryGrounds(begun: BegunFrontends, known: YoungTries): TryGrounds {
    const silence = {
      synSentSeconds: (this.#parts.synSentSeconds ?? synSentSeconds)(),
      lookedAtMs: performance.now(),
      seenAtMs: (flow: Flow) => known.seenAtMs(flow),
    };
    return { begun, isLeftUnanswered: (flow) => isLeftUnanswered(flow, silence) };
  }
}

/** The frontends of a pass, and the connection attempts of earlier passes. */
interface Taken extends Wanted {
  readonly known: YoungTries;
}

function familiesOf({ needs, begun }: Wanted): Family[] {
  const versions = new Set(needs.values().map(({ target }) => target.version));
  const families = new Set(Iterator.from(begun).map(({ id }) => id.family));
  return FAMILIES.filter((family) => families.has(family) || versions.has(IP_VERSIONS[family]));
}

function hasNodePort(needs: Needs): boolean {
  return needs.values().some(({ target }) => target.address === undefined);
}

function retryMs(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MOST_RETRY_MS);
}
