const KEPT_MS = 10_000;
const MOST_SERVICES = 8;

/** Services that a page shows at present: their counters are read although they may not be busy. */
export class Interest {
  readonly #monotonicMs: () => number;
  readonly #untilMs = new Map<string, number>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  add(service: string): void {
    this.#untilMs.delete(service);
    this.#untilMs.set(service, this.#monotonicMs() + KEPT_MS);
    const surplus = Math.max(0, this.#untilMs.size - MOST_SERVICES);
    for (const oldest of this.#untilMs.keys().take(surplus)) {
      this.#untilMs.delete(oldest);
    }
  }

  services(): readonly string[] {
    const nowMs = this.#monotonicMs();
    return [...this.#untilMs].filter(([, untilMs]) => untilMs > nowMs).map(([name]) => name);
  }
}
