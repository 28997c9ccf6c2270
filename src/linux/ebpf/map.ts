import { readFileSync } from 'node:fs';
import { Attr } from './attr.ts';
import { Command, MapType, UpdateFlag } from './bpf-constants.ts';
import { callFailed, succeeded } from './bpf-error.ts';
import { deleteMany, entriesOf, type MapEntry, updateMany } from './map-batch.ts';
import { pinDescriptor } from './pin.ts';
import { bpf, bpfRaw, closeDescriptor, Errno } from './system-call.ts';

export interface MapDefinition {
  readonly name: string;
  readonly type: number;
  readonly keySize: number;
  /** Of one value; an entry of a per-CPU map has one for each CPU. */
  readonly valueSize: number;
  readonly maxEntries: number;
  readonly flags: number;
}

/** The part of the argument that the calls for one element need. */
const ELEMENT_ATTR_BYTES = 32;
/** A delete requires that the attributes after the key are zero. */
const DELETE_ATTR_BYTES = 16;

/**
 * A map of the kernel. Keys and values are bytes; a value that is given is always a copy. A call for
 * one element costs about a microsecond.
 */
export class BpfMap {
  readonly name: string;
  readonly type: number;
  readonly keySize: number;
  readonly valueSize: number;
  readonly maxEntries: number;
  readonly flags: number;
  readonly id: number;
  readonly fd: number;
  /** Bytes of a whole entry's value, which is larger than `valueSize` in maps for each CPU. */
  readonly entryBytes: number;
  readonly #key: Buffer;
  readonly #value: Buffer;
  /** Made once: addresses of the two buffers above stay what they are. */
  readonly #attr: Buffer;

  constructor(definition: MapDefinition, kernel: { readonly id: number; readonly fd: number }) {
    this.name = definition.name;
    this.type = definition.type;
    this.keySize = definition.keySize;
    this.valueSize = definition.valueSize;
    this.maxEntries = definition.maxEntries;
    this.flags = definition.flags;
    this.id = kernel.id;
    this.fd = kernel.fd;
    this.entryBytes = entryBytesOf(definition);
    this.#key = Buffer.alloc(Math.max(this.keySize, 4));
    this.#value = Buffer.alloc(Math.max(this.entryBytes, 8));
    this.#attr = new Attr().u32(0, kernel.fd).pointer(8, this.#key).pointer(16, this.#value).bytes;
  }

  lookup(key: Uint8Array): Buffer | undefined {
    this.#take(key);
    this.#attr.writeBigUInt64LE(0n, 24);
    const result = bpfRaw(Command.mapLookup, this.#attr, ELEMENT_ATTR_BYTES);
    if (result === -Errno.ENOENT) return undefined;
    if (result < 0) throw callFailed(`read from the map ${this.name}`, result);
    return Buffer.from(this.#value.subarray(0, this.entryBytes));
  }

  /** The oldest value of a queue, which leaves it; undefined: the queue is empty. */
  take(): Buffer | undefined {
    // A queue has no keys, and the kernel rejects a pointer to one.
    const attr = new Attr().u32(0, this.fd).pointer(16, this.#value);
    const result = bpf(Command.mapLookupAndDelete, attr);
    if (result === -Errno.ENOENT) return undefined;
    succeeded(`read from the queue ${this.name}`, result);
    return Buffer.from(this.#value.subarray(0, this.entryBytes));
  }

  update(key: Uint8Array, value: Uint8Array, flags: number = UpdateFlag.any): void {
    this.#take(key);
    if (value.length !== this.entryBytes) this.#wrongSize('value', value.length, this.entryBytes);
    this.#value.set(value);
    this.#attr.writeBigUInt64LE(BigInt(flags), 24);
    const result = bpfRaw(Command.mapUpdate, this.#attr, ELEMENT_ATTR_BYTES);
    if (result < 0) throw callFailed(`write into the map ${this.name}`, result);
  }

  /** Whether it was there. */
  delete(key: Uint8Array): boolean {
    this.#take(key);
    const result = bpfRaw(Command.mapDelete, this.#attr, DELETE_ATTR_BYTES);
    if (result === -Errno.ENOENT) return false;
    if (result < 0) throw callFailed(`delete from the map ${this.name}`, result);
    return true;
  }

  /** The key after this one, in the kernel's order; without one the first. */
  nextKey(key: Uint8Array | undefined): Buffer | undefined {
    const next = Buffer.alloc(this.keySize);
    const attr = new Attr().u32(0, this.fd).pointer(16, next);
    if (key) attr.pointer(8, key);
    const result = bpf(Command.mapNextKey, attr);
    if (result === -Errno.ENOENT) return undefined;
    succeeded(`iterate over the map ${this.name}`, result);
    return next;
  }

  /**
   * Many entries in one call, on a thread if it takes long. Do not change the buffers meanwhile.
   */
  updateBatch(keys: Uint8Array, values: Uint8Array, count: number): Promise<void> {
    return updateMany(this, { keys, values, count });
  }

  /** How many of them were there. */
  deleteBatch(keys: Uint8Array, count: number): Promise<number> {
    return deleteMany(this, { keys, count });
  }

  /** All that it holds, some at a time. */
  entries(signal: AbortSignal): AsyncGenerator<readonly MapEntry[]> {
    return entriesOf(this, signal);
  }

  pin(path: string): void {
    pinDescriptor(`the map ${this.name}`, { fd: this.fd, path });
  }

  /** The map itself lives on while a program, a pin or another descriptor holds it. */
  close(): void {
    closeDescriptor(this.fd);
  }

  #take(key: Uint8Array): void {
    if (key.length !== this.keySize) this.#wrongSize('key', key.length, this.keySize);
    this.#key.set(key);
  }

  #wrongSize(what: string, is: number, should: number): never {
    throw new RangeError(`a ${what} of ${this.name} has ${should} bytes, not ${is}`);
  }
}

function entryBytesOf({ type, valueSize }: MapDefinition): number {
  return isPerCpu(type) ? ((valueSize + 7) & ~7) * possibleCpus() : valueSize;
}

function isPerCpu(type: number): boolean {
  return (
    type === MapType.perCpuArray || type === MapType.perCpuHash || type === MapType.lruPerCpuHash
  );
}

/** How many values an entry of a map for each CPU has: one for every CPU that may ever be there. */
export function possibleCpus(): number {
  const text = readFileSync('/sys/devices/system/cpu/possible', 'utf8').trim();
  const last = /(\d+)$/.exec(text)?.[1];
  if (last === undefined) throw new Error(`cannot parse the list of possible CPUs: ${text}`);
  return Number(last) + 1;
}
