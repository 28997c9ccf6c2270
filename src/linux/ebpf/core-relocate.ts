import type { AssembledProgram } from './assemble.ts';
import { BpfError } from './bpf-error.ts';
import type { CoreRelocation } from './bpf-object.ts';
import { type Btf, BtfKind, TYPE_BYTES } from './btf.ts';
import { type Access, accessName, type Field, followAccess, readAccess } from './core-access.ts';
import { compatible, FieldQuestion, fieldAnswer, isSigned } from './core-field.ts';
import { codeAt, LOAD_64, poison, setImmediate32, setOffset } from './instruction.ts';
import type { KernelTypes } from './kernel-types.ts';

/** The rest of enum bpf_core_relo_kind. */
const Question = {
  localTypeId: 6,
  kernelTypeId: 7,
  typeExists: 8,
  typeSize: 9,
  enumExists: 10,
  enumValue: 11,
} as const;

interface Types {
  readonly local: Btf;
  readonly kernel: KernelTypes;
}

/**
 * Replaces the offsets, sizes and numbers of our headers by those of the running kernel. Code that
 * uses something the kernel lacks is made to fail verification if reached; returns the names of it,
 * for the verifier's error.
 */
export function coreRelocate(program: AssembledProgram, types: Types): string[] {
  const lacking: string[] = [];
  for (const relocation of program.coreRelocations) {
    const missing = one(program.code, relocation, types);
    if (missing !== undefined) {
      poison(program.code, relocation.at);
      lacking.push(missing);
    }
  }
  return lacking;
}

/** The name of what is missing, if the code needs it. */
function one(code: Buffer, relocation: CoreRelocation, types: Types): string | undefined {
  const { at, kind } = relocation;
  if (kind <= FieldQuestion.rightShift) return fieldOf(code, relocation, types);
  if (kind === Question.localTypeId) {
    patchValue(code, at, relocation.typeId);
    return undefined;
  }
  if (kind >= Question.kernelTypeId && kind <= Question.typeSize) {
    patchValue(code, at, typeAnswer(relocation, types));
    return undefined;
  }
  if (kind === Question.enumExists || kind === Question.enumValue) {
    const { name, value } = enumAnswer(relocation, types);
    if (kind === Question.enumValue && value === undefined) return name;
    patchValue(code, at, kind === Question.enumValue ? (value ?? 0) : Number(value !== undefined));
    return undefined;
  }
  throw new BpfError('BPF_OBJECT_INVALID', `CO-RE relocation kind ${kind} is not supported`);
}

function fieldOf(code: Buffer, relocation: CoreRelocation, types: Types): string | undefined {
  const { local } = types;
  const { at, kind, typeId } = relocation;
  const access = readAccess(local, typeId, relocation.access);
  const found = kernelField(access, types);
  if (found === undefined) {
    if (kind !== FieldQuestion.exists) {
      return accessName(essentialName(local.name(local.resolve(typeId))), access);
    }
    patchValue(code, at, 0);
    return undefined;
  }
  patchValue(code, at, fieldAnswer(found.btf, found.field, kind));
  if (kind === FieldQuestion.byteOffset && accessesMemory(code, at)) {
    matchSize(code, at, { local, access, found });
  }
  return undefined;
}

/** A field that is a number may have grown; then the instruction must load more. */
function matchSize(
  code: Buffer,
  at: number,
  about: {
    readonly local: Btf;
    readonly access: Access;
    readonly found: { readonly btf: Btf; readonly field: Field };
  },
): void {
  const { local, access, found } = about;
  const kernelBytes = found.btf.size(found.field.typeId);
  if (local.size(access.field.typeId) === kernelBytes || found.field.bitSize > 0) return;
  if (isSigned(local, access.field.typeId) || isSigned(found.btf, found.field.typeId)) {
    const name = accessName(local.name(local.resolve(access.rootTypeId)), access);
    throw new BpfError('BPF_KERNEL_LACKS', `${name} has a different size in this kernel`);
  }
  patchSize(code, at, kernelBytes);
}

function kernelField(
  access: Access,
  { local, kernel }: Types,
): { btf: Btf; field: Field } | undefined {
  const root = local.resolve(access.rootTypeId);
  const name = essentialName(local.name(root));
  const matches: { btf: Btf; field: Field }[] = [];
  for (const { btf, typeId } of kernel.named(local.kind(root), name)) {
    const field = followAccess(btf, typeId, access);
    if (field === undefined) continue;
    const same = compatible({ btf: local, typeId: access.field.typeId }, { btf, ...field });
    if (same) matches.push({ btf, field });
  }
  const [first, ...others] = matches;
  const differs = others.some(({ field }) => field.bitOffset !== first?.field.bitOffset);
  if (!differs) return first;
  throw new BpfError('BPF_KERNEL_LACKS', `this kernel has several different types named ${name}`);
}

function typeAnswer({ kind, typeId }: CoreRelocation, { local, kernel }: Types): number {
  const [found] = kernel.named(local.kind(typeId), essentialName(local.name(typeId)));
  if (found === undefined) return 0;
  if (kind === Question.typeExists) return 1;
  return kind === Question.typeSize ? found.btf.size(found.typeId) : found.typeId;
}

function enumAnswer(
  { typeId, access }: CoreRelocation,
  { local, kernel }: Types,
): { name: string; value: number | undefined } {
  const root = local.resolve(typeId);
  const wanted = enumNames(local, root)[Number(access)]?.name ?? '';
  const name = essentialName(wanted);
  for (const kind of [BtfKind.enum, BtfKind.enum64]) {
    for (const { btf, typeId: id } of kernel.named(kind, essentialName(local.name(root)))) {
      const found = enumNames(btf, id).find((one) => essentialName(one.name) === name);
      if (found) return { name, value: found.value };
    }
  }
  return { name, value: undefined };
}

function enumNames(btf: Btf, id: number): { name: string; value: number }[] {
  const entryBytes = btf.kind(id) === BtfKind.enum ? 8 : 12;
  const start = btf.offsetOf(id) + TYPE_BYTES;
  return Array.from({ length: btf.count(id) }, (_, index) => {
    const at = start + index * entryBytes;
    return { name: btf.string(btf.bytes.readUInt32LE(at)), value: btf.bytes.readInt32LE(at + 4) };
  });
}

/** A suffix after three underscores distinguishes local variants of a type. */
function essentialName(name: string): string {
  return name.replace(/___.*$/, '');
}

const CLASS = 0x07;
const Class = { load: 1, store: 2, storeRegister: 3, alu32: 4, alu64: 7 } as const;
const SIZE = 0x18;
/** The size bits of a load or store instruction. */
const SIZES: Readonly<Record<number, number>> = { 1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18 };
const LARGEST_OFFSET = 0x7fff;

/** Whether the instruction is a load or a store. */
function accessesMemory(code: Buffer, at: number): boolean {
  const kind = codeAt(code, at) & CLASS;
  return kind === Class.load || kind === Class.store || kind === Class.storeRegister;
}

/** Writes a number that was true of the compiler's types over with the kernel's. */
function patchValue(code: Buffer, at: number, value: number): void {
  const operation = codeAt(code, at);
  const kind = operation & CLASS;
  if (operation === LOAD_64) {
    setImmediate32(code, at, value);
    setImmediate32(code, at + 1, value < 0 ? -1 : 0);
  } else if (kind === Class.alu32 || kind === Class.alu64) {
    setImmediate32(code, at, value);
  } else if (accessesMemory(code, at) && value <= LARGEST_OFFSET) {
    setOffset(code, at, value);
  } else {
    throw new BpfError(
      'BPF_OBJECT_INVALID',
      `CO-RE relocation: the value ${value} does not fit instruction ${at}`,
    );
  }
}

/** Has it move as many bytes as the field has in this kernel. */
function patchSize(code: Buffer, at: number, bytes: number): void {
  const size = SIZES[bytes];
  if (size === undefined) {
    throw new BpfError(
      'BPF_KERNEL_LACKS',
      `CO-RE relocation: a field has ${bytes} bytes in this kernel`,
    );
  }
  code.writeUInt8((codeAt(code, at) & ~SIZE) | size, at * 8);
}
