import type { CoreRelocation, FuncInfo, LineInfo } from './bpf-object.ts';
import type { Btf } from './btf.ts';
import { INSTRUCTION_BYTES } from './instruction.ts';

/**
 * The records of .BTF.ext for the instructions of one section; `at` counts from the section's
 * start.
 */
export interface SectionNotes {
  readonly funcInfo: readonly FuncInfo[];
  readonly lineInfo: readonly LineInfo[];
  readonly coreRelocations: readonly CoreRelocation[];
}

const EMPTY: SectionNotes = { funcInfo: [], lineInfo: [], coreRelocations: [] };
const HEADER_WITH_CORE_BYTES = 32;
const SMALLEST_RECORD_BYTES = 8;

export function parseBtfExt(bytes: Buffer | undefined, btf: Btf): Map<string, SectionNotes> {
  const notes = new Map<string, SectionNotes>();
  if (bytes === undefined || bytes.length === 0) return notes;
  const header = bytes.readUInt32LE(4);
  const put = (section: string, more: Partial<SectionNotes>): void => {
    notes.set(section, { ...(notes.get(section) ?? EMPTY), ...more });
  };
  const part = (at: number): Buffer => {
    const start = header + bytes.readUInt32LE(at);
    return bytes.subarray(start, start + bytes.readUInt32LE(at + 4));
  };
  for (const [section, records] of recordsBySection(part(8), btf)) {
    put(section, { funcInfo: records.map(funcInfo) });
  }
  for (const [section, records] of recordsBySection(part(16), btf)) {
    put(section, { lineInfo: records.map(lineInfo) });
  }
  if (header >= HEADER_WITH_CORE_BYTES) {
    for (const [section, records] of recordsBySection(part(24), btf)) {
      put(section, { coreRelocations: records.map((record) => coreRelocation(record, btf)) });
    }
  }
  return notes;
}

function* recordsBySection(part: Buffer, btf: Btf): Generator<[string, Buffer[]]> {
  if (part.length === 0) return;
  const size = part.readUInt32LE(0);
  let at = 4;
  while (at < part.length) {
    const section = btf.string(part.readUInt32LE(at));
    const count = part.readUInt32LE(at + 4);
    const first = at + 8;
    at = first + count * size;
    if (size < SMALLEST_RECORD_BYTES || at > part.length) {
      throw new RangeError('BTF.ext section is truncated');
    }
    const record = (_: unknown, index: number): Buffer =>
      part.subarray(first + index * size, first + (index + 1) * size);
    yield [section, Array.from({ length: count }, record)];
  }
}

function funcInfo(record: Buffer): FuncInfo {
  return { at: record.readUInt32LE(0) / INSTRUCTION_BYTES, typeId: record.readUInt32LE(4) };
}

function lineInfo(record: Buffer): LineInfo {
  return {
    at: record.readUInt32LE(0) / INSTRUCTION_BYTES,
    fileOffset: record.readUInt32LE(4),
    lineOffset: record.readUInt32LE(8),
    lineAndColumn: record.readUInt32LE(12),
  };
}

function coreRelocation(record: Buffer, btf: Btf): CoreRelocation {
  return {
    at: record.readUInt32LE(0) / INSTRUCTION_BYTES,
    typeId: record.readUInt32LE(4),
    access: btf.string(record.readUInt32LE(8)),
    kind: record.readUInt32LE(12),
  };
}
