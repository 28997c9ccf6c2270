import type { Transaction } from './nftables-transaction.ts';
import type { Present, RowPlan, Step } from './row-plan.ts';
import { lengthOf, perform } from './row-plan.ts';

/** How far a plan has been carried out that is too large for one transaction. */
export class PlanProgress {
  readonly #plan: RowPlan;
  readonly #owner: string;
  /** Progress that the kernel has acknowledged. */
  #done: Position = { step: 0, offset: 0 };

  constructor(owner: string, plan: RowPlan) {
    this.#owner = owner;
    this.#plan = plan;
  }

  get plan(): RowPlan {
    return this.#plan;
  }

  /** Emits the next elements, about this many; returns the new position. */
  next(transaction: Transaction, mostElements: number): Position {
    let room = mostElements;
    let { step, offset } = this.#done;
    for (; step < this.#plan.steps.length && room > 0; step++, offset = 0) {
      const whole = this.#plan.steps[step] as Step;
      const weight = whole.do === 'replace' ? 2 : 1;
      const count = Math.min(lengthOf(whole) - offset, Math.ceil(room / weight));
      perform(sliced(whole, offset, offset + count), this.#owner, transaction);
      room -= count * weight;
      if (offset + count < lengthOf(whole)) return { step, offset: offset + count };
    }
    return { step, offset };
  }

  /** Gives whether that was all. */
  acknowledge(position: Position): boolean {
    this.#done = position;
    return position.step >= this.#plan.steps.length;
  }

  /** What the kernel has of a row that was `before` when the plan was made. */
  present(before: Present): Present {
    const elements = new Map(before.elements.map((each) => [each.set + each.key, each]));
    const shared = new Map(before.shared.map((each) => [each.set + each.key, each]));
    for (const step of this.#doneSteps()) {
      if (step.do === 'need') continue;
      for (const element of step.elements) {
        const id = element.set + element.key;
        if (step.do === 'delete') elements.delete(id);
        else if (step.do === 'unwant') shared.delete(id);
        else if (element.set === 'source-ranges') continue;
        else if (step.do === 'want') shared.set(id, element as (typeof before.shared)[number]);
        else elements.set(id, element as (typeof before.elements)[number]);
      }
    }
    return { ...before, elements: [...elements.values()], shared: [...shared.values()] };
  }

  *#doneSteps(): Generator<Step> {
    const { step, offset } = this.#done;
    yield* this.#plan.steps.slice(0, step);
    const open = this.#plan.steps[step];
    if (open && offset > 0) yield sliced(open, 0, offset);
  }
}

export interface Position {
  readonly step: number;
  readonly offset: number;
}

function sliced(step: Step, from: number, to: number): Step {
  if (from === 0 && to >= lengthOf(step)) return step;
  switch (step.do) {
    case 'need':
      return { ...step, classes: step.classes.slice(from, to) };
    case 'want':
    case 'unwant':
      return { ...step, elements: step.elements.slice(from, to) };
    default:
      return { ...step, elements: step.elements.slice(from, to) };
  }
}
