import { readAttributes, textOf } from '../netlink/reader.ts';
import { COUNTER, DATA, ELEMENT, ELEMENTS, EXPRESSION, VERDICT } from './nftables-protocol.ts';
import { signed32 } from './read-numbers.ts';
import { type Binary, readUdata } from './userdata.ts';

/**
 * Elements come by the hundred thousand when a table is read back, with six attributes each. They
 * are read where they lie, by offset: an object for each attribute made a restart seconds longer.
 */

const HEAD_BYTES = 4;
/** Without the flag bits for `nested` and `network byte order`. */
const TYPE_MASK = 0x3fff;
const ELEMENT_COMMENT = 0;
const COUNTER_BYTES = 8;

export interface StoredElement {
  readonly key: Binary;
  readonly keyEnd?: Binary;
  /** Bytes of the value, or `goto chain` and its like for a verdict. */
  readonly value?: Binary;
  readonly comment?: string;
  readonly packets: number;
  readonly bytes: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** `body` begins with the attributes of a message about elements. */
export function decodeElements(body: Buffer, onElement: (element: StoredElement) => void): void {
  const list = readAttributes(body).get(ELEMENTS.list);
  if (!list) return;
  for (let at = 0; ; ) {
    const end = endOf(list, at, list.length);
    if (end < 0) return;
    onElement(decodeElement(list, at + HEAD_BYTES, end));
    at = aligned(end);
  }
}

function decodeElement(bytes: Buffer, begin: number, end: number): StoredElement {
  const element: Writable<StoredElement> = { key: '', packets: 0, bytes: 0 };
  for (let at = begin; ; ) {
    const next = endOf(bytes, at, end);
    if (next < 0) return element;
    const from = at + HEAD_BYTES;
    switch (typeAt(bytes, at)) {
      case ELEMENT.key:
        element.key = decodeData(bytes, from, next);
        break;
      case ELEMENT.keyEnd:
        element.keyEnd = decodeData(bytes, from, next);
        break;
      case ELEMENT.data:
        element.value = decodeData(bytes, from, next);
        break;
      case ELEMENT.expression:
        decodeCounter(element, bytes.subarray(from, next));
        break;
      case ELEMENT.userdata: {
        const comment = readUdata(bytes.subarray(from, next), ELEMENT_COMMENT);
        if (comment !== undefined) element.comment = textOf(comment);
        break;
      }
    }
    at = aligned(next);
  }
}

function decodeData(bytes: Buffer, begin: number, end: number): Binary {
  let value = '';
  for (let at = begin; ; ) {
    const next = endOf(bytes, at, end);
    if (next < 0) return value;
    const type = typeAt(bytes, at);
    if (type === DATA.verdict) return decodeVerdict(bytes.subarray(at + HEAD_BYTES, next));
    if (type === DATA.value) value = bytes.toString('latin1', at + HEAD_BYTES, next);
    at = aligned(next);
  }
}

function decodeVerdict(verdict: Buffer): string {
  const parts = readAttributes(verdict);
  return verdictText(signed32(parts.get(VERDICT.code)) ?? 0, textOf(parts.get(VERDICT.chain)));
}

/** A verdict as `nft` writes it. */
function verdictText(code: number, chain: string): string {
  const names: Readonly<Record<number, string>> = {
    0: 'drop',
    1: 'accept',
    [-3]: 'jump',
    [-4]: 'goto',
  };
  return `${names[code] ?? code}${chain === '' ? '' : ` ${chain}`}`;
}

/** The expression of an element: the name of it, which is a counter's, and a nest of numbers. */
function decodeCounter(element: Writable<StoredElement>, expression: Buffer): void {
  const { length } = expression;
  for (let at = 0; ; ) {
    const next = endOf(expression, at, length);
    if (next < 0) return;
    if (typeAt(expression, at) === EXPRESSION.data) {
      decodeNumbers(element, expression.subarray(at + HEAD_BYTES, next));
    }
    at = aligned(next);
  }
}

function decodeNumbers(element: Writable<StoredElement>, numbers: Buffer): void {
  for (let at = 0; ; ) {
    const next = endOf(numbers, at, numbers.length);
    if (next < 0) return;
    const type = typeAt(numbers, at);
    const isWhole = next - at >= HEAD_BYTES + COUNTER_BYTES;
    if (isWhole && type === COUNTER.packets) element.packets = counterAt(numbers, at + HEAD_BYTES);
    if (isWhole && type === COUNTER.bytes) element.bytes = counterAt(numbers, at + HEAD_BYTES);
    at = aligned(next);
  }
}

/** A counter: beyond 2 ** 53 it is rounded. */
function counterAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

function typeAt(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at + 2) & TYPE_MASK;
}

/** Where the attribute at an offset ends; negative: there is none, or one that cannot be. */
function endOf(bytes: Buffer, at: number, limit: number): number {
  if (at + HEAD_BYTES > limit) return -1;
  const length = bytes.readUInt16LE(at);
  return length < HEAD_BYTES || at + length > limit ? -1 : at + length;
}

/** The next multiple of four; nests begin at one, so offsets within may be counted from outside. */
function aligned(at: number): number {
  return (at + 3) & ~3;
}
