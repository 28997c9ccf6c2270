import { MOST_SLOTS } from '../slots.ts';

const TENTH_MS = 100;
const FIRST_MS = 1_000;
const MOST_MS = 30_000;
/** How long others keep off an endpoint that one connection tries again. */
const TRIAL_MS = 500;
const MOST_FAILURES = 6;

/**
 * Endpoints that failed get no connection for 1, 2, 4 … 30 s. The time is shared by all threads; how
 * often one failed is each thread's own count. When the time is over one connection tries it, and
 * the others wait for its outcome.
 */
export class Avoidance {
  readonly #untilTenths: Int32Array;
  readonly #failures = new Uint8Array(MOST_SLOTS);

  constructor(avoided: SharedArrayBuffer) {
    this.#untilTenths = new Int32Array(avoided);
  }

  isAvoided(slot: number, nowMs: number): boolean {
    const until = Atomics.load(this.#untilTenths, slot);
    return until !== 0 && until * TENTH_MS > nowMs;
  }

  /** It gets a connection now. */
  noteTrial(slot: number, nowMs: number): void {
    const until = Atomics.load(this.#untilTenths, slot);
    if (until === 0 || until * TENTH_MS > nowMs) return;
    Atomics.compareExchange(this.#untilTenths, slot, until, tenths(nowMs + TRIAL_MS));
  }

  noteSuccess(slot: number): void {
    if (Atomics.load(this.#untilTenths, slot) !== 0) Atomics.store(this.#untilTenths, slot, 0);
    this.#failures[slot] = 0;
  }

  noteFailure(slot: number, nowMs: number): void {
    const until = Atomics.load(this.#untilTenths, slot);
    if (until === 0) this.#failures[slot] = 0;
    // Many connections may fail at once: that is one failure. A trial's time was rounded up.
    else if (until * TENTH_MS > nowMs + TRIAL_MS + TENTH_MS) return;
    const failures = this.#failures[slot] ?? 0;
    const avoidedMs = Math.min(FIRST_MS * 2 ** failures, MOST_MS);
    if (failures < MOST_FAILURES) this.#failures[slot] = failures + 1;
    Atomics.store(this.#untilTenths, slot, tenths(nowMs + avoidedMs));
  }
}

function tenths(ms: number): number {
  return Math.ceil(ms / TENTH_MS);
}
