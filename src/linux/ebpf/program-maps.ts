import { Attr } from './attr.ts';
import { Command } from './constants.ts';
import { succeeded } from './errors.ts';
import { programInfo } from './info.ts';
import type { BpfProgram } from './program.ts';
import { bpf } from './system-call.ts';

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
