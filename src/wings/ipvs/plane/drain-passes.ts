import { PlaneError } from '../../../dataplanes/contract.ts';

export interface DrainPassesParts {
  readonly deleteDrained: () => Promise<void>;
  /** Requests an inspection. */
  readonly report: (what: string) => void;
}

/**
 * Passes of the drainer beside the watches. One that the kernel rejects must not end them: they would
 * miss the change that it was rejected for, such as a deleted table. It requests an inspection instead,
 * the first in a row only: what an inspection has not repaired, the next one would not repair either.
 */
export class DrainPasses {
  readonly #parts: DrainPassesParts;
  #isFailing = false;

  constructor(parts: DrainPassesParts) {
    this.#parts = parts;
  }

  async pass(): Promise<void> {
    const { deleteDrained, report } = this.#parts;
    try {
      await deleteDrained();
      this.#isFailing = false;
    } catch (error) {
      if (!(error instanceof PlaneError)) throw error;
      if (!this.#isFailing) report(`cannot delete what has drained in IPVS: ${error.message}`);
      this.#isFailing = true;
    }
  }
}
