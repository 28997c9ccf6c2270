import { BpfError } from './errors.ts';
import { codeAt, LOAD_64, setImmediate32, setOffset } from './instruction.ts';

const CLASS = 0x07;
const Class = { load: 1, store: 2, storeRegister: 3, alu32: 4, alu64: 7 } as const;
const SIZE = 0x18;
/** The size bits of a load or store instruction. */
const SIZES: Readonly<Record<number, number>> = { 1: 0x10, 2: 0x08, 4: 0x00, 8: 0x18 };
const LARGEST_OFFSET = 0x7fff;

/** Whether the instruction is a load or a store. */
export function accessesMemory(code: Buffer, at: number): boolean {
  const kind = codeAt(code, at) & CLASS;
  return kind === Class.load || kind === Class.store || kind === Class.storeRegister;
}

/** Writes a number that was true of the compiler's types over with the kernel's. */
export function patchValue(code: Buffer, at: number, value: number): void {
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
export function patchSize(code: Buffer, at: number, bytes: number): void {
  const size = SIZES[bytes];
  if (size === undefined) {
    throw new BpfError(
      'BPF_KERNEL_LACKS',
      `CO-RE relocation: a field has ${bytes} bytes in this kernel`,
    );
  }
  code.writeUInt8((codeAt(code, at) & ~SIZE) | size, at * 8);
}
