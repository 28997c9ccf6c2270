import { attribute, be32, listed, text } from './listed-expressions.ts';
import type { Binary } from './userdata.ts';

/**
 * A module of the old tables within a rule of the new: its name, which of its structs it is given,
 * and how long that is, rounded up to eight bytes as the kernel does.
 */
export interface XtModule {
  readonly name: string;
  readonly revision: number;
  readonly byteLength: number;
}

/** Gives the expression for a struct; it is filled up with zeros. */
export type XtExpression = (struct: Binary) => Binary;

export function xtMatch(module: XtModule): XtExpression {
  return expressionOf('match', module);
}

export function xtTarget(module: XtModule): XtExpression {
  return expressionOf('target', module);
}

/** All but the struct is the same each time, and is made once. */
function expressionOf(kind: string, { name, revision, byteLength }: XtModule): XtExpression {
  const empty = attribute(3, '\0'.repeat(byteLength));
  const whole = listed(kind, text(1, name) + attribute(2, be32(revision)) + empty);
  const head = whole.slice(0, whole.length - byteLength);
  return (struct) => head + struct.padEnd(byteLength, '\0');
}
