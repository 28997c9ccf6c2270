import { BpfError } from './bpf-error.ts';
import type {
  BpfObject,
  CodePlace,
  CoreRelocation,
  FuncInfo,
  LineInfo,
  ObjectFunction,
  Relocation,
} from './bpf-object.ts';
import { CallTo, INSTRUCTION_BYTES, Source, setImmediate32, setSource } from './instruction.ts';

/** One program with every function that it calls behind it, as the kernel wants it. */
export interface AssembledProgram {
  readonly name: string;
  readonly section: string;
  /** A copy: later steps write into it. */
  readonly code: Buffer;
  /** Without those between functions, which are done. */
  readonly relocations: readonly Relocation[];
  readonly funcInfo: readonly FuncInfo[];
  readonly lineInfo: readonly LineInfo[];
  readonly coreRelocations: readonly CoreRelocation[];
}

export function assemble(object: BpfObject, program: ObjectFunction): AssembledProgram {
  const parts = partsOf(object, program);
  const code = Buffer.concat([...parts.keys()].map(({ instructions }) => instructions));
  const all = <T extends { readonly at: number }>(list: (part: ObjectFunction) => readonly T[]) =>
    [...parts].flatMap(([part, start]) =>
      list(part).map((one) => ({ ...one, at: one.at + start })),
    );
  const open: Relocation[] = [];
  for (const relocation of all<Relocation>((part) => part.relocations)) {
    if (relocation.kind !== 'call' && relocation.kind !== 'address') {
      open.push(relocation);
      continue;
    }
    const start = parts.get(functionAt(object, relocation.target)) ?? 0;
    setSource(code, relocation.at, relocation.kind === 'call' ? CallTo.function : Source.function);
    setImmediate32(code, relocation.at, start - relocation.at - 1);
    if (relocation.kind === 'address') setImmediate32(code, relocation.at + 1, 0);
  }
  return {
    name: program.name,
    section: program.section,
    code,
    relocations: open,
    funcInfo: all((part) => part.funcInfo),
    lineInfo: all((part) => part.lineInfo),
    coreRelocations: all((part) => part.coreRelocations),
  };
}

/** The program and what it reaches, each with the instruction at which it begins. */
function partsOf(object: BpfObject, program: ObjectFunction): Map<ObjectFunction, number> {
  const parts = new Map<ObjectFunction, number>();
  let end = 0;
  const add = (part: ObjectFunction): void => {
    if (parts.has(part)) return;
    parts.set(part, end);
    end += part.instructions.length / INSTRUCTION_BYTES;
    for (const relocation of part.relocations) {
      if (relocation.kind === 'call' || relocation.kind === 'address') {
        add(functionAt(object, relocation.target));
      }
    }
  };
  add(program);
  return parts;
}

function functionAt(object: BpfObject, { section, instruction }: CodePlace): ObjectFunction {
  const found = [...object.functions, ...object.programs].find(
    (one) => one.section === section && one.start === instruction,
  );
  if (found) return found;
  throw new BpfError('BPF_OBJECT_INVALID', `no function starts at ${section}+${instruction}`);
}
