import { EXPRESSION, LIST_ITEM, VERDICT_CODE } from './protocol.ts';
import type { Binary } from './userdata.ts';

/**
 * Expressions as strings, byte for byte as the kernel lists them: attributes in its order, without
 * the `nested` flag, all in the first register. So a listed rule can be found by the string that it
 * was written with.
 */

const FIRST_REGISTER = be32(1);
const VERDICT_REGISTER = be32(0);
const META = { mark: 3, inInterface: 6, l4Protocol: 16 } as const;
const PAYLOAD_BASE = { network: 1, transport: 2 } as const;
const COMPARISON = { equal: 0, different: 1 } as const;
const MASK_AND_XOR = 0;
const VALUE = 1;
const VERDICT = 2;
const RETURN_CODE = -5;

const VERDICTS = { ...VERDICT_CODE, return: RETURN_CODE } as const;

export function be16(value: number): Binary {
  return String.fromCharCode((value >>> 8) & 0xff, value & 0xff);
}

export function be32(value: number): Binary {
  return be16(value >>> 16) + be16(value & 0xffff);
}

const PADDING = ['', '\0\0\0', '\0\0', '\0'] as const;

/** Its length, its type and its value, padded to a multiple of four. */
export function attribute(type: number, value: Binary): Binary {
  const length = value.length + 4;
  const head = String.fromCharCode(length & 0xff, length >>> 8, type, 0);
  return head + value + PADDING[value.length & 3];
}

export function text(type: number, value: string): Binary {
  return attribute(type, `${value}\0`);
}

export function listed(name: string, attributes: Binary): Binary {
  return attribute(LIST_ITEM, text(EXPRESSION.name, name) + attribute(EXPRESSION.data, attributes));
}

export type Meta = keyof typeof META;

const META_EXPRESSIONS = {
  mark: loadMeta('mark'),
  inInterface: loadMeta('inInterface'),
  l4Protocol: loadMeta('l4Protocol'),
} as const;

export function meta(of: Meta): Binary {
  return META_EXPRESSIONS[of];
}

function loadMeta(of: Meta): Binary {
  return listed('meta', attribute(2, be32(META[of])) + attribute(1, FIRST_REGISTER));
}

export function payload(
  base: keyof typeof PAYLOAD_BASE,
  at: { readonly offset: number; readonly length: number },
): Binary {
  return listed(
    'payload',
    attribute(1, FIRST_REGISTER) +
      attribute(2, be32(PAYLOAD_BASE[base])) +
      attribute(3, be32(at.offset)) +
      attribute(4, be32(at.length)),
  );
}

export function compared(is: keyof typeof COMPARISON, value: Binary): Binary {
  return listed(
    'cmp',
    attribute(1, FIRST_REGISTER) +
      attribute(2, be32(COMPARISON[is])) +
      attribute(3, attribute(VALUE, value)),
  );
}

/** Clears every bit that the mask does not have. */
export function masked(mask: Binary): Binary {
  return listed(
    'bitwise',
    attribute(1, FIRST_REGISTER) +
      attribute(2, FIRST_REGISTER) +
      attribute(3, be32(mask.length)) +
      attribute(6, be32(MASK_AND_XOR)) +
      attribute(4, attribute(VALUE, mask)) +
      attribute(5, attribute(VALUE, '\0'.repeat(mask.length))),
  );
}

const COUNTS = attribute(1, '\0'.repeat(8)) + attribute(2, '\0'.repeat(8));

/** A counter of zero. */
export const COUNTER: Binary = listed('counter', COUNTS);
const COUNTER_HEAD = COUNTER.slice(0, COUNTER.length - COUNTS.length);

/** The listed expressions with their counters set to zero. */
export function withoutCounts(expressions: Binary): Binary {
  const at = expressions.indexOf(COUNTER_HEAD);
  if (at === -1 || expressions.startsWith(COUNTER, at)) return expressions;
  return expressions.slice(0, at) + COUNTER + expressions.slice(at + COUNTER.length);
}

export function verdict(code: keyof typeof VERDICTS, chain?: string): Binary {
  const target = chain === undefined ? '' : text(2, chain);
  const value = attribute(VERDICT, attribute(1, be32(VERDICTS[code])) + target);
  return listed('immediate', attribute(1, VERDICT_REGISTER) + attribute(2, value));
}
