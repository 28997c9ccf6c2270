import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { succeeded } from './bpf-error.ts';
import { programInfo } from './info.ts';
import { openPin, pinDescriptor } from './pin.ts';
import { bpf, closeDescriptor } from './system-call.ts';

export interface TestRun {
  /** A packet, for programs that see packets. */
  readonly data?: Uint8Array;
  /** The context, for program types that accept one. */
  readonly ctx?: Uint8Array;
}

export interface TestRunResult {
  readonly returned: number;
  readonly data: Buffer;
  readonly ctx: Buffer;
}

/** Room for what the program adds in front of a packet. */
const HEADROOM_BYTES = 256;

/** A program that the kernel has verified. */
export class BpfProgram {
  readonly name: string;
  readonly type: number;
  readonly id: number;
  readonly tag: string;
  readonly fd: number;

  constructor(
    info: {
      readonly name: string;
      readonly type: number;
      readonly id: number;
      readonly tag: string;
    },
    fd: number,
  ) {
    this.name = info.name;
    this.type = info.type;
    this.id = info.id;
    this.tag = info.tag;
    this.fd = fd;
  }

  /** Runs it once on a packet without attaching it (BPF_PROG_TEST_RUN): a signal ends repeated runs. */
  testRun({ data, ctx }: TestRun): TestRunResult {
    const attr = new Attr().u32(0, this.fd);
    const dataOut = Buffer.alloc(data ? data.length + HEADROOM_BYTES : 0);
    if (data)
      attr.u32(8, data.length).u32(12, dataOut.length).pointer(16, data).pointer(24, dataOut);
    const ctxOut = Buffer.alloc(ctx?.length ?? 0);
    if (ctx) attr.u32(40, ctx.length).u32(44, ctxOut.length).pointer(48, ctx).pointer(56, ctxOut);
    succeeded(`run the program ${this.name}`, bpf(Command.programTestRun, attr));
    return {
      returned: attr.readU32(4),
      data: dataOut.subarray(0, attr.readU32(12)),
      ctx: ctxOut.subarray(0, attr.readU32(44)),
    };
  }

  pin(path: string): void {
    pinDescriptor(`the program ${this.name}`, { fd: this.fd, path });
  }

  /** The program itself lives on while a link or a pin holds it. */
  close(): void {
    closeDescriptor(this.fd);
  }
}

export function openPinnedProgram(path: string): BpfProgram {
  return programOf(openPin('a program', path));
}

/** From a descriptor, which the program owns from now on. */
export function programOf(fd: number): BpfProgram {
  try {
    return new BpfProgram(programInfo(fd), fd);
  } catch (error) {
    closeDescriptor(fd);
    throw error;
  }
}

const INFO_BYTES = 256;
const MAP_COUNT_OFFSET = 52;
const MAP_IDS_OFFSET = 56;

/** Ids of the maps that a program uses, sorted. */
export function mapIdsOf(program: BpfProgram): number[] {
  const { mapCount } = programInfo(program.fd);
  const ids = Buffer.alloc(mapCount * 4);
  const info = Buffer.alloc(INFO_BYTES);
  const pointer = new Attr().pointer(0, ids);
  info.writeUInt32LE(mapCount, MAP_COUNT_OFFSET);
  pointer.bytes.copy(info, MAP_IDS_OFFSET, 0, 8);
  const attr = new Attr().u32(0, program.fd).u32(4, info.length).pointer(8, info);
  succeeded(`query the program ${program.name}`, bpf(Command.objectInfo, attr));
  pointer.heldBuffers();
  return Array.from({ length: mapCount }, (_, at) => ids.readUInt32LE(at * 4)).sort(
    (a, b) => a - b,
  );
}
