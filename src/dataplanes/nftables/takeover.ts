import type { ServicePortKey } from '../../forwarding/model.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';

/**
 * After this the rules of an earlier version are deleted in any case: a row may never be accepted.
 */
const LONGEST_MS = 60_000;

/** Rows that are still to be written before the rules of an earlier version can go. */
export class Takeover {
  readonly #waiting = new Set<ServicePortKey>();
  readonly #families = new Set<TableFamily>();
  readonly #monotonicMs: () => number;
  #sinceMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether packets of the family still go the old way. */
  isUnderWay(family: TableFamily): boolean {
    if (this.#waiting.size === 0 || !this.#families.has(family)) return false;
    return this.#monotonicMs() - this.#sinceMs < LONGEST_MS;
  }

  wait(family: TableFamily, key: ServicePortKey): void {
    if (this.#waiting.size === 0) this.#sinceMs = this.#monotonicMs();
    this.#families.add(family);
    this.#waiting.add(key);
  }

  /** Gives whether that was the last. */
  written(key: ServicePortKey): boolean {
    return this.#waiting.delete(key) && this.#waiting.size === 0;
  }
}
