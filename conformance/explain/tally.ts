/** What `fairlead explain` was asked beside the packets of a scenario, or of several. */
export interface ExplainCount {
  /** Questions whose prediction agrees with the packets. */
  readonly predicted: number;
  /** Those of them that a packet of its own proves too. */
  readonly proven: number;
  /** How many of them it proved before the packets were sent. */
  readonly provenFirst: number;
  /** The others, by the reason why there is no proof. */
  readonly notProven: Readonly<Record<string, number>>;
}

/** Counts while scenarios are run. */
export class ExplainTally {
  #predicted = 0;
  #proven = 0;
  #provenFirst = 0;
  readonly #notProven = new Map<string, number>();

  countPredicted(): void {
    this.#predicted += 1;
  }

  countProven(isFirst: boolean): void {
    this.#proven += 1;
    if (isFirst) this.#provenFirst += 1;
  }

  countNotProven(reason: string): void {
    this.#notProven.set(reason, (this.#notProven.get(reason) ?? 0) + 1);
  }

  get count(): ExplainCount {
    return {
      predicted: this.#predicted,
      proven: this.#proven,
      provenFirst: this.#provenFirst,
      notProven: Object.fromEntries(this.#notProven),
    };
  }
}

export function sumOf(counts: readonly ExplainCount[]): ExplainCount {
  const notProven: Record<string, number> = {};
  let [predicted, proven, provenFirst] = [0, 0, 0];
  for (const count of counts) {
    predicted += count.predicted;
    proven += count.proven;
    provenFirst += count.provenFirst;
    for (const [reason, times] of Object.entries(count.notProven)) {
      notProven[reason] = (notProven[reason] ?? 0) + times;
    }
  }
  return { predicted, proven, provenFirst, notProven };
}

/** `12 of 14 proven`. */
export function provenText({ predicted, proven }: ExplainCount): string {
  return `${proven} of ${predicted} proven`;
}
