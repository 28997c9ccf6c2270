import { Cursor, MalformedMessage, WIRE } from './cursor.ts';
import type { Field, Shape } from './message-shape.ts';
import { TextCache } from './text-cache.ts';

/** The JSON shape, except that times are in milliseconds. */
export type Message = Record<string, unknown>;

const DEEPEST = 16;
/** The last second of the year 9999. */
const LATEST_SECONDS = 253_402_300_799;

/** Decodes messages, with a cache of recent strings. */
export class MessageReader {
  readonly #texts = new TextCache();

  /** Undefined: not a message. `start` may be after the first byte. */
  read(bytes: Buffer, shape: Shape, begin = 0): Message | undefined {
    try {
      return readFields(new Cursor(bytes, this.#texts, begin), shape, 0);
    } catch (error) {
      if (error instanceof MalformedMessage) return undefined;
      throw error;
    }
  }
}

function readFields(cursor: Cursor, { fields }: Shape, depth: number): Message {
  if (depth > DEEPEST) throw new MalformedMessage('messages are nested too deeply');
  const message: Message = {};
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    const wireType = tag & 7;
    const field = fields[tag >>> 3];
    if (field === undefined || wireType !== wireTypeOf(field)) cursor.skip(wireType);
    else if (field.isList) append(message, field.name, readValue(cursor, field, depth));
    else if (field.type.is === 'texts') readEntry(cursor, message, field);
    else message[field.name] = readValue(cursor, field, depth);
  }
  return message;
}

function wireTypeOf({ type }: Field): number {
  return type.is === 'integer' || type.is === 'boolean' ? WIRE.varint : WIRE.counted;
}

function append(message: Message, name: string, value: unknown): void {
  const list = message[name];
  if (Array.isArray(list)) list.push(value);
  else message[name] = [value];
}

function readValue(cursor: Cursor, { type }: Field, depth: number): unknown {
  switch (type.is) {
    case 'text':
      return cursor.text();
    case 'integer':
      return cursor.varint();
    case 'boolean':
      return cursor.varint() !== 0;
    case 'bytes':
      return cursor.counted();
    case 'time': {
      const outerEnd = enter(cursor);
      const value = readTime(cursor);
      leave(cursor, outerEnd);
      return value;
    }
    case 'message': {
      const outerEnd = enter(cursor);
      const value = readFields(cursor, type.shape, depth + 1);
      leave(cursor, outerEnd);
      return value;
    }
    case 'texts':
      throw new MalformedMessage('a list of maps is not supported');
  }
}

/**
 * Limits the cursor to a length-delimited value, and returns the previous end. Two functions
 * instead of a callback: there are a million calls at a start.
 */
function enter(cursor: Cursor): number {
  const outerEnd = cursor.end;
  cursor.end = cursor.countedEnd();
  return outerEnd;
}

function leave(cursor: Cursor, outerEnd: number): void {
  cursor.position = cursor.end;
  cursor.end = outerEnd;
}

const ENTRY_KEY = 1;
const ENTRY_VALUE = 2;

function readEntry(cursor: Cursor, message: Message, field: Field): void {
  if (field.type.is !== 'texts') return;
  const { keys } = field.type;
  message[field.name] ??= {};
  const record = message[field.name] as Message;
  const outerEnd = enter(cursor);
  let key = '';
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    const isText = (tag & 7) === WIRE.counted;
    if (isText && tag >>> 3 === ENTRY_KEY) key = cursor.text();
    else if (isText && tag >>> 3 === ENTRY_VALUE && (keys === 'all' || keys.has(key))) {
      record[key] = cursor.text();
    } else cursor.skip(tag & 7);
  }
  leave(cursor, outerEnd);
}

const TIME_SECONDS = 1;

function readTime(cursor: Cursor): number | undefined {
  let seconds: number | undefined;
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    if (tag === (TIME_SECONDS << 3) + WIRE.varint) seconds = cursor.varint();
    else cursor.skip(tag & 7);
  }
  // An unset time is encoded as an empty message, or as the year 1.
  if (seconds === undefined || seconds > LATEST_SECONDS) return undefined;
  return seconds * 1000;
}
