import { type Btf, BtfKind, TYPE_BYTES } from './btf.ts';
import type { Field } from './core-access.ts';

/** Kinds of relocation that ask about a field; enum bpf_core_relo_kind. */
export const FieldQuestion = {
  byteOffset: 0,
  byteSize: 1,
  exists: 2,
  signed: 3,
  leftShift: 4,
  rightShift: 5,
} as const;

const SIGNED = 1 << 24;

/** Whether values of the one can be read as values of the other. */
export function compatible(
  one: { readonly btf: Btf; readonly typeId: number },
  other: { readonly btf: Btf; readonly typeId: number },
): boolean {
  const a = one.btf.resolve(one.typeId);
  const b = other.btf.resolve(other.typeId);
  const kind = family(one.btf.kind(a));
  if (kind !== family(other.btf.kind(b))) return false;
  if (kind !== BtfKind.array) return true;
  return compatible(
    { btf: one.btf, typeId: one.btf.array(a).elementType },
    { btf: other.btf, typeId: other.btf.array(b).elementType },
  );
}

function family(kind: number): number {
  if (kind === BtfKind.union) return BtfKind.struct;
  return kind === BtfKind.enum64 ? BtfKind.enum : kind;
}

/** The answer to a question about a field that is there. */
export function fieldAnswer(btf: Btf, field: Field, question: number): number {
  const { byteOffset, byteSize } = reach(btf, field);
  const bits = field.bitSize === 0 ? byteSize * 8 : field.bitSize;
  switch (question) {
    case FieldQuestion.byteOffset:
      return byteOffset;
    case FieldQuestion.byteSize:
      return byteSize;
    case FieldQuestion.exists:
      return 1;
    case FieldQuestion.signed:
      return isSigned(btf, field.typeId) ? 1 : 0;
    case FieldQuestion.leftShift:
      return 64 - (field.bitOffset + bits - byteOffset * 8);
    case FieldQuestion.rightShift:
      return 64 - bits;
    default:
      throw new RangeError(`CO-RE relocation kind ${question} is not for fields`);
  }
}

/** The bytes to load for it. For a bit field: the smallest aligned piece that holds all of it. */
function reach(btf: Btf, field: Field): { byteOffset: number; byteSize: number } {
  let byteSize = btf.size(field.typeId);
  if (field.bitSize === 0) return { byteOffset: field.bitOffset / 8, byteSize };
  for (;;) {
    const byteOffset = Math.floor(field.bitOffset / 8 / byteSize) * byteSize;
    if (field.bitOffset + field.bitSize - byteOffset * 8 <= byteSize * 8) {
      return { byteOffset, byteSize };
    }
    byteSize *= 2;
  }
}

export function isSigned(btf: Btf, typeId: number): boolean {
  const of = btf.resolve(typeId);
  if (btf.kind(of) !== BtfKind.int) return false;
  if (of < btf.firstId && btf.base) return isSigned(btf.base, of);
  return (btf.bytes.readUInt32LE(btf.offsetOf(of) + TYPE_BYTES) & SIGNED) !== 0;
}
