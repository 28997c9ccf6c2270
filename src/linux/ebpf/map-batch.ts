import { setImmediate as nextTurn } from 'node:timers/promises';
import { Attr } from './attr.ts';
import { Command, type CommandNumber } from './bpf-constants.ts';
import { type BpfError, callFailed } from './bpf-error.ts';
import { bpf, bpfOnThread, ENOTSUPP, Errno } from './system-call.ts';

/** What batch calls need from a map, and the calls that replace them. */
export interface BatchMap {
  readonly name: string;
  readonly fd: number;
  readonly keySize: number;
  readonly entryBytes: number;
  lookup(key: Uint8Array): Buffer | undefined;
  update(key: Uint8Array, value: Uint8Array, flags?: number): void;
  delete(key: Uint8Array): boolean;
  nextKey(key: Uint8Array | undefined): Buffer | undefined;
}

export interface MapEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** So many take the kernel half a millisecond; more are worth the 25 µs of a thread. */
const MOST_ON_LOOP = 1_000;
const MOST_READ_AT_ONCE = 1_024;
/** For calls with one entry each, about a microsecond. */
const MOST_SINGLY = 500;
const COUNT_OFFSET = 32;
/** Hash maps use a cursor of four bytes, other maps a key. */
const SMALLEST_TOKEN_BYTES = 8;

/** Keys and values lie one behind the other. The buffers must not change before it is done. */
export async function updateMany(
  map: BatchMap,
  entries: { readonly keys: Uint8Array; readonly values: Uint8Array; readonly count: number },
): Promise<void> {
  const { keys, values, count } = entries;
  checkLength(map, keys.length, count * map.keySize);
  checkLength(map, values.length, count * map.entryBytes);
  if (count === 0) return;
  const attr = batchAttr(map, keys, count).pointer(24, values);
  const result = await batch(Command.mapUpdateBatch, attr, count);
  if (result >= 0) return;
  if (!lacksBatch(result)) throw notAll(map, { attr, result, count });
  const { keySize, entryBytes } = map;
  await singly(count, (at) => {
    map.update(part(keys, at, keySize), part(values, at, entryBytes));
  });
}

/** How many of the keys were there. */
export async function deleteMany(
  map: BatchMap,
  { keys, count }: { readonly keys: Uint8Array; readonly count: number },
): Promise<number> {
  checkLength(map, keys.length, count * map.keySize);
  let deleted = 0;
  for (let from = 0; from < count; ) {
    const rest = keys.subarray(from * map.keySize);
    const attr = batchAttr(map, rest, count - from);
    const result = await batch(Command.mapDeleteBatch, attr, count - from);
    if (lacksBatch(result)) return deleted + (await deleteSingly(map, rest, count - from));
    const done = attr.readU32(COUNT_OFFSET);
    // The kernel stops at a missing key; continue after it.
    if (result < 0 && result !== -Errno.ENOENT) throw notAll(map, { attr, result, count });
    deleted += done;
    from += result < 0 ? done + 1 : done;
  }
  return deleted;
}

/** Reads all entries in batches; an entry that changes meanwhile may be missed or come twice. */
export async function* entriesOf(
  map: BatchMap,
  signal: AbortSignal,
): AsyncGenerator<readonly MapEntry[]> {
  const tokenBytes = Math.max(map.keySize, SMALLEST_TOKEN_BYTES);
  let token: Buffer | undefined;
  let room = MOST_READ_AT_ONCE;
  for (;;) {
    signal.throwIfAborted();
    const keys = Buffer.alloc(room * map.keySize);
    const values = Buffer.alloc(room * map.entryBytes);
    const next = Buffer.alloc(tokenBytes);
    const attr = batchAttr(map, keys, room).pointer(24, values).pointer(8, next);
    if (token) attr.pointer(0, token);
    const result = bpf(Command.mapLookupBatch, attr);
    if (lacksBatch(result)) return yield* entriesSingly(map, signal);
    if (result === -Errno.ENOSPC) {
      // One bucket of a hash map holds more than there is room for.
      room *= 2;
      continue;
    }
    if (result < 0 && result !== -Errno.ENOENT) {
      throw callFailed(`read the map ${map.name}`, result);
    }
    const count = attr.readU32(COUNT_OFFSET);
    if (count > 0) yield pairs(map, { keys, values, count });
    if (result === -Errno.ENOENT) return;
    token = next;
    await nextTurn();
  }
}

async function* entriesSingly(
  map: BatchMap,
  signal: AbortSignal,
): AsyncGenerator<readonly MapEntry[]> {
  let key: Buffer | undefined;
  for (;;) {
    signal.throwIfAborted();
    const found: MapEntry[] = [];
    for (let turn = 0; turn < MOST_SINGLY; turn += 1) {
      key = map.nextKey(key);
      if (key === undefined) break;
      const value = map.lookup(key);
      if (value) found.push({ key, value });
    }
    if (found.length > 0) yield found;
    if (key === undefined) return;
    await nextTurn();
  }
}

async function deleteSingly(map: BatchMap, keys: Uint8Array, count: number): Promise<number> {
  let deleted = 0;
  await singly(count, (at) => {
    if (map.delete(part(keys, at, map.keySize))) deleted += 1;
  });
  return deleted;
}

async function singly(count: number, each: (at: number) => void): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    if (at > 0 && at % MOST_SINGLY === 0) await nextTurn();
    each(at);
  }
}

async function batch(command: CommandNumber, attr: Attr, count: number): Promise<number> {
  return count <= MOST_ON_LOOP ? bpf(command, attr) : await bpfOnThread(command, attr);
}

function batchAttr(map: BatchMap, keys: Uint8Array, count: number): Attr {
  return new Attr().pointer(16, keys).u32(COUNT_OFFSET, count).u32(36, map.fd);
}

/** This kind of map has no such operation in this kernel. */
function lacksBatch(result: number): boolean {
  return result === -ENOTSUPP;
}

function notAll(
  map: BatchMap,
  { attr, result, count }: { readonly attr: Attr; readonly result: number; readonly count: number },
): BpfError {
  const done = attr.readU32(COUNT_OFFSET);
  return callFailed(`change ${count} entries of the map ${map.name} (${done} succeeded)`, result);
}

function pairs(
  map: BatchMap,
  {
    keys,
    values,
    count,
  }: { readonly keys: Buffer; readonly values: Buffer; readonly count: number },
): MapEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    key: keys.subarray(at * map.keySize, (at + 1) * map.keySize),
    value: values.subarray(at * map.entryBytes, (at + 1) * map.entryBytes),
  }));
}

function part(bytes: Uint8Array, at: number, size: number): Uint8Array {
  return bytes.subarray(at * size, (at + 1) * size);
}

function checkLength(map: BatchMap, is: number, least: number): void {
  // The kernel would read on behind the end.
  if (is < least) throw new RangeError(`${map.name}: ${least} bytes expected, ${is} given`);
}
