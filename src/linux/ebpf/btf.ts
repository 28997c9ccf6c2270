import { BpfError } from './bpf-error.ts';

/** Documentation/bpf/btf.rst of the kernel. */
export const BtfKind = {
  int: 1,
  pointer: 2,
  array: 3,
  struct: 4,
  union: 5,
  enum: 6,
  forward: 7,
  typedef: 8,
  volatile: 9,
  const: 10,
  restrict: 11,
  function: 12,
  functionType: 13,
  variable: 14,
  dataSection: 15,
  float: 16,
  declarationTag: 17,
  typeTag: 18,
  enum64: 19,
} as const;

const MAGIC = 0xeb9f;
const HEADER_BYTES = 24;
export const TYPE_BYTES = 12;
const POINTER_BYTES = 8;
/** For modifiers around a type: `const volatile __u32` has four. */
const MOST_DEPTH = 64;

export interface BtfMember {
  readonly name: string;
  readonly typeId: number;
  readonly bitOffset: number;
  /** 0: not a bit field. */
  readonly bitSize: number;
}

/**
 * Types as the compiler or the kernel describes them. The kernel's are 5 MB in 150,000 types: only
 * where each begins is found out at the start; everything else is read when it is asked for.
 */
export class Btf {
  readonly bytes: Buffer;
  readonly typesStart: number;
  readonly typesEnd: number;
  readonly stringsStart: number;
  readonly stringsEnd: number;
  /** The types of the kernel itself, where a module's continue them. */
  readonly base: Btf | undefined;
  readonly firstId: number;
  readonly #stringBase: number;
  /** Where each type begins; the first is of `firstId`. */
  readonly #offsets: Uint32Array;

  constructor(bytes: Buffer, base?: Btf) {
    if (bytes.length < HEADER_BYTES || bytes.readUInt16LE(0) !== MAGIC) {
      throw new BpfError('BPF_OBJECT_INVALID', 'the BTF section has no BTF header');
    }
    const header = bytes.readUInt32LE(4);
    this.bytes = bytes;
    this.base = base;
    this.typesStart = header + bytes.readUInt32LE(8);
    this.typesEnd = this.typesStart + bytes.readUInt32LE(12);
    this.stringsStart = header + bytes.readUInt32LE(16);
    this.stringsEnd = this.stringsStart + bytes.readUInt32LE(20);
    if (Math.max(this.typesEnd, this.stringsEnd) > bytes.length) {
      throw new RangeError('BTF section is truncated');
    }
    this.firstId = base ? base.endId : 1;
    this.#stringBase = base ? base.stringBytes : 0;
    this.#offsets = typeOffsets(this);
  }

  /** One more than the highest id. */
  get endId(): number {
    return this.firstId + this.#offsets.length;
  }

  get stringBytes(): number {
    return this.#stringBase + this.stringsEnd - this.stringsStart;
  }

  string(offset: number): string {
    if (offset < this.#stringBase && this.base) return this.base.string(offset);
    const start = this.stringsStart + offset - this.#stringBase;
    return this.bytes.toString('utf8', start, this.bytes.indexOf(0, start));
  }

  /** Where the type begins in `bytes`; only for types of this and not of its base. */
  offsetOf(id: number): number {
    const offset = this.#offsets[id - this.firstId];
    if (offset === undefined)
      throw new BpfError('BPF_OBJECT_INVALID', `no BTF type has the id ${id}`);
    return offset;
  }

  kind(id: number): number {
    if (id === 0) return 0;
    return id < this.firstId ? this.#below.kind(id) : kindAt(this.bytes, this.offsetOf(id));
  }

  name(id: number): string {
    if (id === 0) return 'void';
    if (id < this.firstId) return this.#below.name(id);
    return this.string(this.bytes.readUInt32LE(this.offsetOf(id)));
  }

  /** The number in a type's third word: its size, or the type that it refers to. */
  sizeOrType(id: number): number {
    if (id < this.firstId) return this.#below.sizeOrType(id);
    return this.bytes.readUInt32LE(this.offsetOf(id) + 8);
  }

  count(id: number): number {
    if (id < this.firstId) return this.#below.count(id);
    return this.bytes.readUInt16LE(this.offsetOf(id) + 4);
  }

  /** Without the names, `const` and `volatile` around it. */
  resolve(id: number): number {
    let at = id;
    for (let depth = 0; depth < MOST_DEPTH; depth += 1) {
      switch (this.kind(at)) {
        case BtfKind.typedef:
        case BtfKind.volatile:
        case BtfKind.const:
        case BtfKind.restrict:
        case BtfKind.typeTag:
          at = this.sizeOrType(at);
          break;
        default:
          return at;
      }
    }
    throw new RangeError('BTF types refer to each other in a cycle');
  }

  members(id: number): BtfMember[] {
    if (id < this.firstId) return this.#below.members(id);
    const offset = this.offsetOf(id);
    const hasBitFields = this.bytes.readUInt32LE(offset + 4) >>> 31 === 1;
    return Array.from({ length: this.count(id) }, (_, index) => {
      const at = offset + TYPE_BYTES + index * 12;
      const place = this.bytes.readUInt32LE(at + 8);
      return {
        name: this.string(this.bytes.readUInt32LE(at)),
        typeId: this.bytes.readUInt32LE(at + 4),
        bitOffset: hasBitFields ? place & 0xff_ffff : place,
        bitSize: hasBitFields ? place >>> 24 : 0,
      };
    });
  }

  array(id: number): { readonly elementType: number; readonly length: number } {
    if (id < this.firstId) return this.#below.array(id);
    const at = this.offsetOf(id) + TYPE_BYTES;
    return { elementType: this.bytes.readUInt32LE(at), length: this.bytes.readUInt32LE(at + 8) };
  }

  /** Bytes of one value; 0 for a type without a size, such as a function. */
  size(id: number): number {
    const of = this.resolve(id);
    switch (this.kind(of)) {
      case BtfKind.pointer:
        return POINTER_BYTES;
      case BtfKind.array: {
        const { elementType, length } = this.array(of);
        return this.size(elementType) * length;
      }
      case BtfKind.int:
      case BtfKind.struct:
      case BtfKind.union:
      case BtfKind.enum:
      case BtfKind.enum64:
      case BtfKind.float:
      case BtfKind.dataSection:
        return this.sizeOrType(of);
      case BtfKind.variable:
        return this.size(this.sizeOrType(of));
      default:
        return 0;
    }
  }

  /** The id of a type of this kind with this name, of its own types only. */
  find(kind: number, name: string): number | undefined {
    return this.findAll(kind, name).next().value;
  }

  /** All of them: two files of a kernel may each have a type of the same name. */
  *findAll(kind: number, name: string): Generator<number, undefined> {
    const wanted = this.#stringOffset(name);
    if (wanted !== undefined) yield* this.#withName(kind, wanted);
    return undefined;
  }

  *#withName(kind: number, nameOffset: number): Generator<number, undefined> {
    const { bytes } = this;
    for (let index = 0; index < this.#offsets.length; index += 1) {
      const offset = this.#offsets[index] ?? 0;
      // Almost every type differs in this one byte, and it costs less than a whole number.
      if (bytes[offset] !== (nameOffset & 0xff)) continue;
      if (bytes.readUInt32LE(offset) === nameOffset && kindAt(bytes, offset) === kind) {
        yield this.firstId + index;
      }
    }
    return undefined;
  }

  /** Where the string lies: types name it by that, and no other string need be made. */
  #stringOffset(text: string): number | undefined {
    // A module's types may be named by the kernel's strings.
    const below = this.base ? this.base.#stringOffset(text) : undefined;
    if (below !== undefined) return below;
    // A module's first string has no zero in front of it.
    if (this.base && this.string(this.#stringBase) === text) return this.#stringBase;
    const at = this.bytes.indexOf(`\0${text}\0`, this.stringsStart, 'latin1');
    if (at < 0 || at >= this.stringsEnd) return undefined;
    return at + 1 - this.stringsStart + this.#stringBase;
  }

  get #below(): Btf {
    if (this.base) return this.base;
    throw new BpfError('BPF_OBJECT_INVALID', 'a BTF type refers to a missing type');
  }
}

export function kindAt(bytes: Buffer, offset: number): number {
  return (bytes[offset + 7] ?? 0) & 0x1f;
}

/** Bytes of a type, with all that follows its first three words. */
export function typeBytes(bytes: Buffer, offset: number): number {
  const count = (bytes[offset + 4] ?? 0) | ((bytes[offset + 5] ?? 0) << 8);
  switch (kindAt(bytes, offset)) {
    case BtfKind.int:
    case BtfKind.variable:
    case BtfKind.declarationTag:
      return TYPE_BYTES + 4;
    case BtfKind.array:
      return TYPE_BYTES + 12;
    case BtfKind.struct:
    case BtfKind.union:
    case BtfKind.dataSection:
    case BtfKind.enum64:
      return TYPE_BYTES + 12 * count;
    case BtfKind.enum:
    case BtfKind.functionType:
      return TYPE_BYTES + 8 * count;
    default:
      return TYPE_BYTES;
  }
}

function typeOffsets({ bytes, typesStart, typesEnd }: Btf): Uint32Array {
  // No type is shorter, so this is enough.
  const offsets = new Uint32Array(Math.ceil((typesEnd - typesStart) / TYPE_BYTES));
  let count = 0;
  for (let at = typesStart; at < typesEnd; at += typeBytes(bytes, at)) offsets[count++] = at;
  return offsets.slice(0, count);
}
