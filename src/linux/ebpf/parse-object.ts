import { BpfError } from './bpf-error.ts';
import type { BpfObject, ObjectData, ObjectFunction, ObjectMap, Relocation } from './bpf-object.ts';
import { Btf, BtfKind, TYPE_BYTES } from './btf.ts';
import { parseBtfExt, type SectionNotes } from './btf-ext.ts';
import { type Elf, type ElfSection, parseElf, SectionType, SymbolType } from './elf.ts';
import { INSTRUCTION_BYTES } from './instruction.ts';
import { sectionRelocations } from './parse-relocations.ts';

const EXECUTABLE = 0x4;
const WRITABLE = 0x1;
/** The section of functions that are called by programs and are not programs themselves. */
const SUBPROGRAMS = '.text';
/** A map's value cannot be larger than what the kernel allocates in one piece. */
const MOST_DATA_BYTES = 4 * 1024 * 1024;
const DATA = /^\.(rodata|data|bss)(\.|$)/;

/** Understands what clang made of a source file. Throws if it is anything else. */
export function parseObject(file: Uint8Array): BpfObject {
  try {
    return parse(parseElf(file));
  } catch (error) {
    // For offsets beyond the end of the bytes, and counts without end.
    if (!(error instanceof RangeError)) throw error;
    throw new BpfError('BPF_OBJECT_INVALID', 'the object file is damaged', { cause: error });
  }
}

function parse(elf: Elf): BpfObject {
  const section = (name: string): ElfSection | undefined =>
    elf.sections.find((candidate) => candidate.name === name);
  const types = section('.BTF');
  if (!types) {
    throw new BpfError('BPF_OBJECT_INVALID', 'the object has no BTF: compile it with -g');
  }
  const btf = new Btf(types.bytes);
  const notes = parseBtfExt(section('.BTF.ext')?.bytes, btf);
  const code = elf.sections.filter(({ flags, size }) => (flags & EXECUTABLE) !== 0 && size > 0);
  const functions = code.flatMap((each) => functionsOf(elf, each, notes.get(each.name)));
  return {
    license: text(section('license')?.bytes),
    programs: functions.filter((one) => one.section !== SUBPROGRAMS),
    functions: functions.filter((one) => one.section === SUBPROGRAMS),
    maps: mapDefinitions(btf),
    data: elf.sections.filter(isData).map((each) => dataOf(elf, each)),
    btf,
  };
}

function functionsOf(
  elf: Elf,
  section: ElfSection,
  notes: SectionNotes | undefined,
): ObjectFunction[] {
  const relocations = sectionRelocations(elf, section);
  return elf.symbols
    .filter(
      ({ type, section: sectionIndex }) =>
        type === SymbolType.function && sectionIndex === section.index,
    )
    .sort((a, b) => a.value - b.value)
    .map(({ name, value, size }) => {
      const start = value / INSTRUCTION_BYTES;
      const end = (value + size) / INSTRUCTION_BYTES;
      const own = <T extends { readonly at: number }>(all: readonly T[] | undefined): T[] =>
        (all ?? [])
          .filter(({ at }) => at >= start && at < end)
          .map((one) => ({ ...one, at: one.at - start }));
      return {
        name,
        section: section.name,
        start,
        instructions: section.bytes.subarray(value, value + size),
        relocations: own<Relocation>(relocations),
        funcInfo: own(notes?.funcInfo),
        lineInfo: own(notes?.lineInfo),
        coreRelocations: own(notes?.coreRelocations),
      };
    });
}

function isData({ name, size }: ElfSection): boolean {
  return DATA.test(name) && size > 0;
}

function dataOf(elf: Elf, section: ElfSection): ObjectData {
  if (section.size > MOST_DATA_BYTES) throw new RangeError(`${section.name} is too large`);
  const variables = elf.symbols
    .filter(
      ({ type, section: sectionIndex }) =>
        type === SymbolType.object && sectionIndex === section.index,
    )
    .map(({ name, value, size }) => [name, { offset: value, size }] as const);
  return {
    name: section.name,
    bytes: section.type === SectionType.noBits ? Buffer.alloc(section.size) : section.bytes,
    readOnly: (section.flags & WRITABLE) === 0,
    variables: new Map(variables),
  };
}

function text(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : bytes.toString('latin1').replace(/\0.*$/s, '');
}

const DATA_SECTION_ENTRY_BYTES = 12;

/**
 * The maps that an object declares: variables of the section `.maps` whose type describes the map.
 * A number is the length of an array, a type is the target of a pointer.
 */
function mapDefinitions(btf: Btf): ObjectMap[] {
  const section = btf.find(BtfKind.dataSection, '.maps');
  if (section === undefined) return [];
  const start = btf.offsetOf(section) + TYPE_BYTES;
  return Array.from({ length: btf.count(section) }, (_, index) => {
    const variable = btf.bytes.readUInt32LE(start + index * DATA_SECTION_ENTRY_BYTES);
    return definition(btf, variable);
  });
}

function definition(btf: Btf, variable: number): ObjectMap {
  const name = btf.name(variable);
  const numbers = new Map<string, number>();
  const types = new Map<string, number>();
  for (const member of btf.members(btf.resolve(btf.sizeOrType(variable)))) {
    const pointed = btf.sizeOrType(btf.resolve(member.typeId));
    if (member.name === 'key' || member.name === 'value') types.set(member.name, pointed);
    else if (NUMBERS.has(member.name)) numbers.set(member.name, btf.array(pointed).length);
    else
      throw new BpfError(
        'BPF_OBJECT_INVALID',
        `map ${name}: the attribute ${member.name} is not supported`,
      );
  }
  const sizeOf = (what: 'key' | 'value'): number => {
    const type = types.get(what);
    return type === undefined ? (numbers.get(`${what}_size`) ?? 0) : btf.size(type);
  };
  return {
    name,
    type: numbers.get('type') ?? 0,
    keySize: sizeOf('key'),
    valueSize: sizeOf('value'),
    maxEntries: numbers.get('max_entries') ?? 0,
    flags: numbers.get('map_flags') ?? 0,
    keyTypeId: types.get('key') ?? 0,
    valueTypeId: types.get('value') ?? 0,
  };
}

const NUMBERS: ReadonlySet<string> = new Set([
  'type',
  'key_size',
  'value_size',
  'max_entries',
  'map_flags',
]);
