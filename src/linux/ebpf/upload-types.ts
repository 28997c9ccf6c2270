import { Attr } from './attr.ts';
import { type Btf, BtfKind, kindAt, TYPE_BYTES, typeBytes } from './btf.ts';
import { Command } from './constants.ts';
import { BpfError, errnoName } from './errors.ts';
import { nameAt } from './info.ts';
import { bpf } from './system-call.ts';

const HEADER_BYTES = 24;
const EXTERN = 2;
const LOG_BYTES = 64 * 1024;

/** Gives the kernel the types of an object; a descriptor of them. */
export function uploadTypes(btf: Btf): number {
  const bytes = typesForKernel(btf);
  const log = Buffer.alloc(LOG_BYTES);
  const attr = new Attr().pointer(0, bytes).u32(16, bytes.length);
  const fd = bpf(Command.btfLoad, attr);
  if (fd >= 0) return fd;
  bpf(Command.btfLoad, attr.pointer(8, log).u32(20, log.length).u32(24, 1));
  const last = nameAt(log, 0).trimEnd().split('\n').at(-1) ?? '';
  throw new BpfError(
    'BPF_PROGRAM_REFUSED',
    `the kernel rejected the BTF of the object: ${errnoName(-fd)} ${last}`.trimEnd(),
    { errno: -fd, detail: nameAt(log, 0) },
  );
}

/**
 * Types keep their numbers, but some become empty structs: sections and variables have no sizes
 * before linking, and kernel functions are not the object's own. The kernel would reject them, and
 * nothing that it does for us needs them.
 */
function typesForKernel(btf: Btf): Buffer {
  const types: Buffer[] = [];
  for (let id = btf.firstId; id < btf.endId; id += 1) {
    const offset = btf.offsetOf(id);
    types.push(
      isRefused(btf.bytes, offset)
        ? emptyStruct()
        : btf.bytes.subarray(offset, offset + typeBytes(btf.bytes, offset)),
    );
  }
  const body = Buffer.concat(types);
  const strings = btf.bytes.subarray(btf.stringsStart, btf.stringsEnd);
  const header = Buffer.alloc(HEADER_BYTES);
  btf.bytes.copy(header, 0, 0, 4);
  header.writeUInt32LE(HEADER_BYTES, 4);
  header.writeUInt32LE(body.length, 12);
  header.writeUInt32LE(body.length, 16);
  header.writeUInt32LE(strings.length, 20);
  return Buffer.concat([header, body, strings]);
}

function isRefused(bytes: Buffer, offset: number): boolean {
  const kind = kindAt(bytes, offset);
  if (kind === BtfKind.function) return bytes.readUInt16LE(offset + 4) === EXTERN;
  return kind === BtfKind.dataSection || kind === BtfKind.variable;
}

function emptyStruct(): Buffer {
  const type = Buffer.alloc(TYPE_BYTES);
  type.writeUInt32LE((BtfKind.struct << 24) >>> 0, 4);
  return type;
}
