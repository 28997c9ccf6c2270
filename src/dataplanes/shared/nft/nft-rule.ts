import type { Expression } from '../../../linux/nftables/expressions.ts';
import { readWords, type Words } from '../words.ts';

/** A part of a rule: as `nft` 1.0.6 lists it, and as the kernel gets it. */
export interface Clause {
  readonly text: string;
  readonly expressions: readonly Expression[];
}

/** One that people can read too. */
export interface WordedClause extends Clause {
  readonly words: Words;
}

export interface Rule<C extends Clause = Clause> {
  readonly clauses: readonly C[];
  readonly comment?: string;
}

export function rule<C extends Clause>(...clauses: readonly C[]): Rule<C> {
  return { clauses };
}

export function commented<C extends Clause>(comment: string, ...clauses: readonly C[]): Rule<C> {
  return { clauses, comment };
}

/** Several as one. */
export function joined(...clauses: readonly Clause[]): Clause {
  return { text: clausesText(clauses), expressions: clauses.flatMap((each) => each.expressions) };
}

/** As `nft` lists it. */
export function ruleText({ clauses, comment }: Rule): string {
  const text = clausesText(clauses);
  return comment === undefined ? text : `${text} comment "${comment}"`;
}

/** The effect on a packet, in a sentence without its full stop. */
export function ruleSentence({ clauses }: Rule<WordedClause>): string {
  const { head, actions } = readWords(clauses.map(({ words }) => words));
  return `${head}${actions.join(', and ')}`;
}

function clausesText(clauses: readonly Clause[]): string {
  return clauses.map(({ text }) => text).join(' ');
}
