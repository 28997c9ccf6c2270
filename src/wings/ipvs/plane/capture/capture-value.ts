import { SOURCE_CLASSES, type SourceClass } from '../../../../forwarding/model.ts';
import type { Capture, CapturedFrontend } from './frontend.ts';

/**
 * What a frontend's element has: a hexadecimal digit for each source class, pods first, then this
 * node, then others. 0x00000133 takes all, and masquerades all but pods.
 */
const DIGIT: Readonly<Record<Capture, number>> = { pass: 0, take: 1, 'take-and-masquerade': 3 };
const CAPTURES: readonly Capture[] = ['pass', 'take', 'take-and-masquerade'];
const DIGIT_MASK = 0xf;
const SHIFT: Readonly<Record<SourceClass, number>> = { pod: 8, host: 4, outside: 0 };

type ByClass = CapturedFrontend['capture'];

export function takeBit(from: SourceClass): number {
  return 1 << SHIFT[from];
}

export function masqueradeBit(from: SourceClass): number {
  return 2 << SHIFT[from];
}

export function captureNumber(capture: ByClass): number {
  return SOURCE_CLASSES.reduce((sum, from) => sum | (DIGIT[capture[from]] << SHIFT[from]), 0);
}

const PASS: ByClass = { pod: 'pass', host: 'pass', outside: 'pass' };

/** A number that `captureNumber` never gives reads as one that takes nothing. */
export function captureOfNumber(number: number): ByClass {
  const capture = {
    pod: captureOf(number, 'pod'),
    host: captureOf(number, 'host'),
    outside: captureOf(number, 'outside'),
  };
  return captureNumber(capture) === number ? capture : PASS;
}

function captureOf(number: number, from: SourceClass): Capture {
  const digit = (number >>> SHIFT[from]) & DIGIT_MASK;
  return CAPTURES.find((capture) => DIGIT[capture] === digit) ?? 'pass';
}
