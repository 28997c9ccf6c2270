import { setImmediate as turn } from 'node:timers/promises';
import {
  type DataPlane,
  type Desired,
  type Drift,
  type Inspection,
  type InspectionDepth,
  type NodeFacts,
  PlaneError,
  type ReadingKey,
  type Readings,
  type RowChange,
} from '../../dataplanes/contract.ts';
import { isApplied } from '../../dataplanes/row-change.ts';
import { claimOf } from '../../forwarding/claims.ts';
import { equalForwarding } from '../../forwarding/equal.ts';
import { type Forwarding, type ServicePortKey, servicePortKey } from '../../forwarding/model.ts';
import { weightOf } from '../weight.ts';

export type Call = 'inspect everything' | 'inspect reported' | 'configure' | 'apply' | 'part';

/**
 * A plane as the contract describes it, over a kernel in memory that fails on demand. It holds the
 * agent to the agent's part of the contract: `violations` must stay empty.
 */
export class FakePlane implements DataPlane {
  readonly mode = 'fake';
  readonly kernel = new Map<ServicePortKey, Forwarding>();
  /** Beyond it a transaction violates the contract, and a change must come in parts. */
  objectsPerStep?: number;
  applyPart?: (change: RowChange) => Promise<'unfinished' | 'finished'>;
  facts: NodeFacts | undefined;
  readonly calls: Call[] = [];
  readonly applied: (readonly RowChange[])[] = [];
  readonly violations: string[] = [];
  /** Called before each call does anything; its error is the plane's answer. */
  fault: (call: Call, changes: readonly RowChange[]) => void = () => undefined;
  /** Called when a transaction is written; if it throws, the rows of the transaction are unknown. */
  faultAfterWrite: () => void = () => undefined;
  /** Ends the running watch unexpectedly. */
  endWatch: ((error?: Error) => void) | undefined;
  #isBusy = false;
  #onDrift: ((drift: Drift) => void) | undefined;
  readonly #suspects = new Set<ServicePortKey>();
  /** `unknown` rows: an inspection did not find them right, or a part was rejected. */
  readonly #remembered = new Set<ServicePortKey>();
  /** Rows that the kernel has in part, and how many objects are still to be written. */
  readonly #parts = new Map<ServicePortKey, { readonly change: RowChange; left: number }>();

  /** From now on it writes large rows in parts, and nothing larger than this. */
  writeInParts(objectsPerStep: number): void {
    this.objectsPerStep = objectsPerStep;
    this.applyPart = (change) => this.#applyPart(change, objectsPerStep);
  }

  async inspect(desired: Desired, depth: InspectionDepth): Promise<Inspection> {
    // A failed one also discards its position, and keeps that something is there.
    const halfWritten = new Set(this.#parts.keys());
    for (const key of halfWritten) this.#remembered.add(key);
    this.#parts.clear();
    return await this.#alone(`inspect ${depth}`, [], () => {
      const rows = new Map(Array.from(desired.rows, (row) => [servicePortKey(row.id), row]));
      const isLookedAt = (key: string): boolean =>
        depth === 'everything' || this.#suspects.has(key);
      const foreign = [...this.kernel.keys()].filter((key) => !rows.has(key) && isLookedAt(key));
      for (const key of foreign) this.kernel.delete(key);
      const isWrong = (key: string): boolean =>
        (isLookedAt(key) && !equalForwarding(this.kernel.get(key), rows.get(key))) ||
        halfWritten.has(key);
      const wrong = [...rows.keys()].filter(isWrong);
      if (depth === 'everything') this.#remembered.clear();
      for (const key of wrong) this.#remembered.add(key);
      this.#suspects.clear();
      this.facts = desired.facts;
      return {
        right: new Set([...rows.keys()].filter((key) => !wrong.includes(key))),
        differences: [],
        differenceCount: wrong.length + foreign.length,
        writeCount: foreign.length,
      };
    });
  }

  async configure(facts: NodeFacts): Promise<void> {
    await this.#alone('configure', [], () => {
      this.facts = facts;
    });
  }

  async apply(changes: readonly RowChange[]): Promise<void> {
    await this.#alone('apply', changes, () => {
      const objectCount = changes.reduce((sum, change) => sum + weightOf(change), 0);
      if (objectCount > (this.objectsPerStep ?? objectCount)) {
        this.violations.push(`${objectCount} objects in one transaction`);
      }
      for (const { key } of changes) {
        if (this.#parts.has(key)) this.violations.push(`${key}: is being written in parts`);
      }
      this.#write(changes);
      try {
        this.faultAfterWrite();
      } catch (error) {
        const unknown = new Set(changes.map(({ key }) => key));
        for (const key of unknown) this.#remembered.add(key);
        throw new PlaneError(String(error), { code: 'HALF', next: '', unknown });
      }
    });
  }

  #write(changes: readonly RowChange[]): void {
    for (const change of changes) this.#checkBefore(change);
    const next = new Map(this.kernel);
    for (const { key } of changes) next.delete(key);
    const taken = this.#takenBut(changes.map(({ key }) => key));
    for (const { key, after } of changes) {
      if (after === undefined) continue;
      for (const claim of claimsOf(after)) {
        if (taken.has(claim)) throw rejection('EXISTS', `${claim} is there already`);
        taken.add(claim);
      }
      next.set(key, after);
    }
    this.kernel.clear();
    for (const [key, row] of next) this.kernel.set(key, row);
    for (const { key } of changes) this.#remembered.delete(key);
    this.applied.push(changes);
  }

  async #applyPart(change: RowChange, objectsPerStep: number): Promise<'unfinished' | 'finished'> {
    const { key, after } = change;
    try {
      return await this.#alone('part', [change], () => {
        const known = this.#parts.get(key);
        if (known !== undefined && known.change !== change) {
          this.violations.push(`${key}: another change than the one that was begun`);
        }
        const part = known ?? { change, left: weightOf(change) };
        if (known === undefined) this.#checkBefore(change);
        this.#parts.set(key, part);
        const taken = this.#takenBut([key]);
        const conflict = after && claimsOf(after).find((claim) => taken.has(claim));
        if (conflict !== undefined) throw rejection('EXISTS', `${conflict} is there already`);
        part.left -= objectsPerStep;
        if (part.left > 0) return 'unfinished';
        this.#parts.delete(key);
        this.#write([change]);
        return 'finished';
      });
    } catch (error) {
      this.#parts.delete(key);
      this.#remembered.add(key);
      throw error;
    }
  }

  /** Addresses that other rows have, also of those that are only partly written. */
  #takenBut(keys: readonly ServicePortKey[]): Set<string> {
    const own = new Set(keys);
    const written = [...this.kernel].filter(([key]) => !own.has(key)).map(([, row]) => row);
    const parts = [...this.#parts].filter(([key]) => !own.has(key));
    const halfWritten = parts.flatMap(([, { change }]) => change.after ?? []);
    return new Set([...written, ...halfWritten].flatMap(claimsOf));
  }

  async diff(): Promise<readonly never[]> {
    return [];
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    this.#onDrift = onDrift;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.endWatch = (error) => (error === undefined ? resolve() : reject(error));
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
    try {
      await promise;
    } finally {
      this.#onDrift = undefined;
    }
  }

  async read<K extends ReadingKey>(key: K): Promise<Readings[K] | undefined> {
    const readings: Partial<Readings> = { counters: [], frontends: [] };
    return readings[key];
  }

  async remove(): Promise<void> {
    this.kernel.clear();
  }

  reportDrift(drift: Drift): void {
    this.#onDrift?.(drift);
  }

  /** Another process deletes a row from the kernel. */
  lose(key: ServicePortKey): void {
    if (!this.kernel.delete(key)) return;
    this.#suspects.add(key);
    this.#onDrift?.({ what: `${key} deleted`, by: { pid: 7, program: 'nft' } });
  }

  /** Another process deletes a part of a row from the kernel. */
  spoil(key: ServicePortKey): void {
    const row = this.kernel.get(key);
    if (row === undefined) return;
    this.kernel.set(key, { ...row, affinitySeconds: row.affinitySeconds + 1 });
    this.#suspects.add(key);
    this.#onDrift?.({ what: `${key} changed` });
  }

  count(call: Call): number {
    return this.calls.filter((made) => made === call).length;
  }

  #checkBefore({ key, before }: RowChange): void {
    const isNoted = this.#remembered.has(key);
    // A plane without a note of an `unknown` row has nothing of it.
    if (before === 'unknown' && !isNoted && this.kernel.has(key)) {
      this.violations.push(`${key}: unknown, although the plane knows it`);
    }
    if (before === 'unknown') return;
    if (isNoted) this.violations.push(`${key}: is unknown, and a row was named`);
    if (isApplied(before, this.kernel.get(key))) return;
    // Another process deleted what should be replaced, and the agent has not inspected it yet.
    if (this.#suspects.has(key)) throw rejection('MISSING', 'no such element');
    this.violations.push(`${key}: before is not what the kernel has`);
  }

  async #alone<T>(call: Call, changes: readonly RowChange[], work: () => T): Promise<T> {
    if (this.#isBusy) this.violations.push(`${call}: another call is under way`);
    this.calls.push(call);
    this.#isBusy = true;
    try {
      await turn();
      this.fault(call, changes);
      return work();
    } finally {
      this.#isBusy = false;
    }
  }
}

export function rejection(code: string, message: string, culprit?: ServicePortKey): PlaneError {
  const about = { code, next: 'nothing: this is a test' };
  return new PlaneError(message, culprit === undefined ? about : { ...about, culprit });
}

function claimsOf(row: Forwarding): string[] {
  const own = row.frontends.filter(({ notServed }) => notServed === undefined);
  return own.map((frontend) => claimOf(row.id, frontend));
}
