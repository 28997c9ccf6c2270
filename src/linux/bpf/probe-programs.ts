import { Attr } from './attr.ts';
import { Command, MapType, ProgramType } from './constants.ts';
import { callFailed } from './errors.ts';
import { CALL, INSTRUCTION_BYTES } from './instruction.ts';
import { loadProgram } from './load-program.ts';
import { createMap } from './map-create.ts';
import { bpf, closeDescriptor, Errno } from './system-call.ts';

const MOVE_NUMBER = 0xb7;
const EXIT = 0x95;
const NO_SUCH_DEVICE = 0x7fff_fffe;
const ENODEV = 19;
const EBADF = 9;

export interface TinyProgram {
  readonly type: number;
  readonly expectedAttachType: number;
  /** A helper that takes the context, or a number, and nothing else. */
  readonly helper?: { readonly number: number; readonly argument?: number };
}

/** Loads the shortest program of a kind, and forgets it; throws what the kernel says against it. */
export function tryProgram(tiny: TinyProgram): void {
  closeDescriptor(loadTiny(tiny));
}

export function tryMap(type: number, flags = 0): void {
  const isTrie = type === MapType.lpmTrie;
  createMap({
    name: 'fl_probe',
    type,
    keySize: isTrie ? 8 : 4,
    valueSize: 8,
    maxEntries: 1,
    flags,
  }).close();
}

/** Writes one entry by the call for many. */
export function tryBatch(): void {
  const definition = { name: 'fl_probe', type: MapType.hash, keySize: 4, valueSize: 8 };
  const map = createMap({ ...definition, maxEntries: 1, flags: 0 });
  const key = Buffer.alloc(4);
  const attr = new Attr().pointer(16, key).pointer(24, Buffer.alloc(8)).u32(32, 1).u32(36, map.fd);
  const result = bpf(Command.mapUpdateBatch, attr);
  map.close();
  if (result < 0) throw callFailed('write many entries of a map at once', result);
}

/** A kernel that knows such links misses the group; one that does not dislikes the question. */
export function tryCgroupLink(attachType: number): void {
  const fd = loadTiny({ type: ProgramType.cgroupSocketAddress, expectedAttachType: attachType });
  const attr = new Attr().u32(0, fd).u32(4, -1).u32(8, attachType);
  const result = bpf(Command.linkCreate, attr);
  closeDescriptor(fd);
  if (result !== -EBADF) throw callFailed('attach to a cgroup by a link', result);
}

/** The same with a device. */
export function tryTcxLink(attachType: number): void {
  const fd = loadTiny({ type: ProgramType.tc, expectedAttachType: 0 });
  const attr = new Attr().u32(0, fd).u32(4, NO_SUCH_DEVICE).u32(8, attachType);
  const result = bpf(Command.linkCreate, attr);
  closeDescriptor(fd);
  if (result !== -ENODEV) throw callFailed('attach to a device by a link', result || -Errno.EINVAL);
}

function loadTiny({ type, expectedAttachType, helper }: TinyProgram): number {
  const instructions: Buffer[] = [];
  if (helper?.argument !== undefined) instructions.push(encode(MOVE_NUMBER, 1, helper.argument));
  if (helper) instructions.push(encode(CALL, 0, helper.number));
  instructions.push(encode(MOVE_NUMBER, 0, 1), encode(EXIT, 0, 0));
  const program = {
    name: 'fl_probe',
    section: '',
    code: Buffer.concat(instructions),
    relocations: [],
    funcInfo: [],
    lineInfo: [],
    coreRelocations: [],
  };
  return loadProgram({
    program,
    type,
    expectedAttachType,
    attachTypeId: 0,
    license: 'GPL',
    typesFd: 0,
    moduleTypeFds: [],
    lacking: [],
  });
}

function encode(code: number, register: number, number: number): Buffer {
  const bytes = Buffer.alloc(INSTRUCTION_BYTES);
  bytes.writeUInt8(code, 0);
  bytes.writeUInt8(register, 1);
  bytes.writeInt32LE(number, 4);
  return bytes;
}
