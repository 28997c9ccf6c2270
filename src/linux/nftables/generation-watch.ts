import { setImmediate as turn } from 'node:timers/promises';
import type { CommitCount } from './nft-connection.ts';

export interface GenerationSources {
  /** Increases by one with every transaction in the network namespace. */
  readonly generation: () => Promise<number>;
  readonly ownCommits: () => CommitCount;
}

const LONGEST_WAIT_MS = 10_000;

/**
 * Decides whether lost events were all our own. The generation id increases by one with every
 * transaction: if it increased by our commits and the reported ones of others, none is missing.
 */
export class GenerationWatch {
  readonly #sources: GenerationSources;
  #foreignCount = 0;
  #base: number | undefined;

  constructor(sources: GenerationSources) {
    this.#sources = sources;
  }

  /** The start of the count. */
  async begin(): Promise<void> {
    this.#base = await this.#unexplained();
  }

  noteForeignCommit(): void {
    this.#foreignCount++;
  }

  /** Asked once after each loss. */
  async wasOnlyOurs(): Promise<boolean> {
    const now = await this.#unexplained();
    const isOurs = now !== undefined && now === this.#base;
    this.#base = now;
    return isOurs;
  }

  /** Transactions that are neither ours nor reported by events; undefined: ours never pause. */
  async #unexplained(): Promise<number | undefined> {
    const deadlineMs = performance.now() + LONGEST_WAIT_MS;
    while (performance.now() < deadlineMs) {
      const before = this.#sources.ownCommits();
      if (before.isUnderWay) {
        await turn();
        continue;
      }
      const generation = await this.#sources.generation();
      // A transaction in between may be in the figure or not.
      const after = this.#sources.ownCommits();
      if (!after.isUnderWay && after.done === before.done) {
        return generation - before.done - this.#foreignCount;
      }
    }
    return undefined;
  }
}
