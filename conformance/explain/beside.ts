import { createHash } from 'node:crypto';
import type { Outcome } from '../questions/outcome.ts';
import type { World } from '../world.ts';
import { proofDisagrees } from './agree-proof.ts';
import {
  type AskedPackets,
  askForProof,
  type Explained,
  type ExplainQuestion,
  predictionDisagrees,
} from './ask-explain.ts';
import type { Explainer } from './explainer.ts';
import { IN_TURN, whyNotProven } from './not-proven.ts';
import type { ExplainTally } from './tally.ts';

/** How `fairlead explain` is asked beside the packets of a scenario. */
export interface Explaining {
  readonly explainer: Explainer;
  /** Which half of the questions is proven before its packets. */
  readonly seed: number;
  readonly tally: ExplainTally;
}

/** A question, and whether a packet may be sent for it. */
interface BesideQuestion extends ExplainQuestion {
  readonly isProven: boolean;
}

/** One question: what its prediction, its proof and the packets of the scenario say must agree. */
export class Beside {
  readonly #world: World;
  readonly #explaining: Explaining;
  readonly #question: BesideQuestion;
  #first: Explained | undefined;

  constructor(world: World, explaining: Explaining, question: BesideQuestion) {
    this.#world = world;
    this.#explaining = explaining;
    this.#question = question;
  }

  /** Proves a half of the questions before the packets of the scenario: neither may change the other. */
  async before(): Promise<void> {
    const { isProven } = this.#question;
    if (!isProven || !isInHalf(this.#question, this.#explaining.seed)) return;
    this.#first = await askForProof(this.#explaining.explainer, this.#question);
  }

  /** Undefined: all three agree. */
  async after(packets: AskedPackets): Promise<string | undefined> {
    const { explainer, tally } = this.#explaining;
    const question = this.#question;
    const differs = await predictionDisagrees(this.#world, explainer, { question, packets });
    if (differs !== undefined) return differs;
    tally.countPredicted();
    if (!question.isProven) {
      tally.countNotProven(IN_TURN);
      return undefined;
    }
    const explained = this.#first ?? (await askForProof(explainer, question));
    return this.#judge(explained, packets.outcomes);
  }

  #judge(explained: Explained, outcomes: readonly Outcome[]): string | undefined {
    const { tally } = this.#explaining;
    const { proof, notProven = '' } = explained;
    if (proof === null) {
      const reason = whyNotProven(notProven);
      if (reason === undefined) return `explain has no proof: ${notProven}`;
      tally.countNotProven(reason);
      return undefined;
    }
    const differs = proofDisagrees({ ...explained, proof }, outcomes);
    if (differs !== undefined) return differs;
    tally.countProven(this.#first !== undefined);
    return undefined;
  }
}

function isInHalf({ target, sender }: ExplainQuestion, seed: number): boolean {
  const digest = createHash('sha256').update(`${seed} ${target} ${sender}`).digest();
  return ((digest[0] ?? 0) & 1) === 1;
}
