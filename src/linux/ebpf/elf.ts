import { BpfError } from './bpf-error.ts';

/** ELF(5), of the one kind that a compiler for bpf makes: relocatable, 64 bits, little endian. */
const MAGIC = 0x464c457f;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const TYPE_RELOCATABLE = 1;
const MACHINE_BPF = 247;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const RELOCATION_BYTES = 16;
export const SectionType = { symbols: 2, noBits: 8, relocations: 9 } as const;
export const SymbolType = { object: 1, function: 2, section: 3 } as const;
const BIND_WEAK = 2;

export interface ElfSection {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly size: number;
  /** Empty for a section of zeros. */
  readonly bytes: Buffer;
  /** For relocations: the section that they change. */
  readonly about: number;
}

export interface ElfSymbol {
  readonly name: string;
  readonly type: number;
  readonly weak: boolean;
  /** 0: not defined here. */
  readonly section: number;
  readonly value: number;
  readonly size: number;
}

export interface ElfRelocation {
  /** In bytes from the start of its section. */
  readonly offset: number;
  readonly type: number;
  readonly symbol: ElfSymbol;
}

export interface Elf {
  readonly sections: readonly ElfSection[];
  readonly symbols: readonly ElfSymbol[];
  /** By the index of the section that they change. */
  readonly relocations: ReadonlyMap<number, readonly ElfRelocation[]>;
}

/** Throws a RangeError where something reaches beyond the end. */
export function parseElf(file: Uint8Array): Elf {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  checkHeader(bytes);
  const sections = readSections(bytes);
  const symbols = readSymbols(bytes, sections);
  return { sections, symbols, relocations: readRelocations(sections, symbols) };
}

function checkHeader(bytes: Buffer): void {
  const fits =
    bytes.readUInt32LE(0) === MAGIC &&
    bytes[4] === CLASS_64 &&
    bytes[5] === LITTLE_ENDIAN &&
    bytes.readUInt16LE(16) === TYPE_RELOCATABLE &&
    bytes.readUInt16LE(18) === MACHINE_BPF;
  if (!fits) {
    throw new BpfError(
      'BPF_OBJECT_INVALID',
      'the file is not an eBPF object (ELF, 64-bit little-endian)',
    );
  }
}

function readSections(bytes: Buffer): ElfSection[] {
  const table = Number(bytes.readBigUInt64LE(40));
  const count = bytes.readUInt16LE(60);
  const at = (index: number): number => table + index * SECTION_HEADER_BYTES;
  const namesAt = Number(bytes.readBigUInt64LE(at(bytes.readUInt16LE(62)) + 24));
  return Array.from({ length: count }, (_, index) => {
    const header = at(index);
    const type = bytes.readUInt32LE(header + 4);
    const start = Number(bytes.readBigUInt64LE(header + 24));
    const size = Number(bytes.readBigUInt64LE(header + 32));
    const inFile = type === SectionType.noBits ? 0 : size;
    if (start + inFile > bytes.length)
      throw new RangeError('an ELF section ends after the end of the file');
    return {
      index,
      name: textAt(bytes, namesAt + bytes.readUInt32LE(header)),
      type,
      flags: Number(bytes.readBigUInt64LE(header + 8)),
      size,
      bytes: bytes.subarray(start, start + inFile),
      about: bytes.readUInt32LE(header + 44),
    };
  });
}

function readSymbols(bytes: Buffer, sections: readonly ElfSection[]): ElfSymbol[] {
  const table = sections.find(({ type }) => type === SectionType.symbols);
  if (!table) throw new BpfError('BPF_OBJECT_INVALID', 'the object has no symbol table');
  const headers = Number(bytes.readBigUInt64LE(40));
  const names = bytes.readUInt32LE(headers + table.index * SECTION_HEADER_BYTES + 40);
  const namesBytes = sections[names]?.bytes ?? Buffer.alloc(0);
  return Array.from({ length: table.size / SYMBOL_BYTES }, (_, index) => {
    const at = index * SYMBOL_BYTES;
    const info = table.bytes.readUInt8(at + 4);
    return {
      name: textAt(namesBytes, table.bytes.readUInt32LE(at)),
      type: info & 0xf,
      weak: info >> 4 === BIND_WEAK,
      section: table.bytes.readUInt16LE(at + 6),
      value: Number(table.bytes.readBigUInt64LE(at + 8)),
      size: Number(table.bytes.readBigUInt64LE(at + 16)),
    };
  });
}

function readRelocations(
  sections: readonly ElfSection[],
  symbols: readonly ElfSymbol[],
): Map<number, readonly ElfRelocation[]> {
  const found = new Map<number, readonly ElfRelocation[]>();
  for (const { type, about, bytes } of sections) {
    if (type !== SectionType.relocations) continue;
    const entries = Array.from({ length: bytes.length / RELOCATION_BYTES }, (_, index) => {
      const at = index * RELOCATION_BYTES;
      const symbol = symbols[bytes.readUInt32LE(at + 12)];
      if (!symbol)
        throw new BpfError('BPF_OBJECT_INVALID', 'a relocation refers to a missing symbol');
      return {
        offset: Number(bytes.readBigUInt64LE(at)),
        type: bytes.readUInt32LE(at + 8),
        symbol,
      };
    });
    found.set(about, entries);
  }
  return found;
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start, bytes.indexOf(0, start));
}
