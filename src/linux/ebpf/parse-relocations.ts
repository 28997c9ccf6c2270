import { BpfError } from './bpf-error.ts';
import type { Relocation } from './bpf-object.ts';
import {
  type Elf,
  type ElfRelocation,
  type ElfSection,
  type ElfSymbol,
  SymbolType,
} from './elf.ts';
import {
  CALL,
  CallTo,
  codeAt,
  INSTRUCTION_BYTES,
  immediateAt,
  LOAD_64,
  sourceAt,
} from './instruction.ts';

const EXECUTABLE = 0x4;

/**
 * The symbols that the instructions of a section refer to; `at` counts from the section's start.
 */
export function sectionRelocations(elf: Elf, section: ElfSection): Relocation[] {
  const found = (elf.relocations.get(section.index) ?? []).map((entry) =>
    relocation(elf, section, entry),
  );
  const known = new Set(found.map(({ at }) => at));
  return [...found, ...callsInside(section, known)].sort((a, b) => a.at - b.at);
}

function relocation(elf: Elf, section: ElfSection, entry: ElfRelocation): Relocation {
  const { symbol } = entry;
  const at = entry.offset / INSTRUCTION_BYTES;
  const code = codeAt(section.bytes, at);
  const immediate = immediateAt(section.bytes, at);
  const weak = symbol.weak;
  if (symbol.section === 0) {
    if (code === CALL) return { kind: 'kernelFunction', at, name: symbol.name, weak };
    if (code === LOAD_64 && weak) return { kind: 'kernelHas', at, name: symbol.name };
    throw notUnderstood(section, entry);
  }
  const target = elf.sections[symbol.section];
  if (target === undefined) throw notUnderstood(section, entry);
  if ((target.flags & EXECUTABLE) !== 0) {
    const first = symbol.value / INSTRUCTION_BYTES;
    const place = (instruction: number) => ({ section: target.name, instruction });
    if (code === CALL) return { kind: 'call', at, target: place(first + immediate + 1) };
    return { kind: 'address', at, target: place(first + immediate / INSTRUCTION_BYTES) };
  }
  if (code !== LOAD_64) throw notUnderstood(section, entry);
  const offset = symbol.value + immediate;
  if (target.name !== '.maps') return { kind: 'data', at, data: target.name, offset };
  return { kind: 'map', at, map: mapAt(elf, symbol, offset) };
}

function mapAt(elf: Elf, symbol: ElfSymbol, offset: number): string {
  if (symbol.type === SymbolType.object) return symbol.name;
  const map = elf.symbols.find(
    ({ type, section, value }) =>
      type === SymbolType.object && section === symbol.section && value === offset,
  );
  if (!map) throw new BpfError('BPF_OBJECT_INVALID', 'code refers to a map without a name');
  return map.name;
}

/** The compiler needs no relocation for a call within one section; we do, as we move functions. */
function callsInside(section: ElfSection, known: ReadonlySet<number>): Relocation[] {
  const calls: Relocation[] = [];
  for (let at = 0; at < section.size / INSTRUCTION_BYTES; at += 1) {
    const code = codeAt(section.bytes, at);
    if (code === CALL && sourceAt(section.bytes, at) === CallTo.function && !known.has(at)) {
      const instruction = at + immediateAt(section.bytes, at) + 1;
      calls.push({ kind: 'call', at, target: { section: section.name, instruction } });
    }
    if (code === LOAD_64) at += 1;
  }
  return calls;
}

function notUnderstood(section: ElfSection, { offset, symbol, type }: ElfRelocation): BpfError {
  const where = `${section.name}+${offset}`;
  const what = symbol.name === '' ? `section ${symbol.section}` : symbol.name;
  return new BpfError(
    'BPF_OBJECT_INVALID',
    `the reference to ${what} at ${where} (type ${type}) is not supported`,
  );
}
