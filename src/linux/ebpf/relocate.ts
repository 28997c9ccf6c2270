import type { AssembledProgram } from './assemble.ts';
import { BpfError } from './bpf-error.ts';
import { CallTo, poison, Source, setImmediate32, setOffset, setSource } from './instruction.ts';
import { type KernelTypes, openModuleTypes } from './kernel-types.ts';
import type { BpfMap } from './map.ts';

export interface Surroundings {
  readonly maps: ReadonlyMap<string, BpfMap>;
  readonly data: ReadonlyMap<string, BpfMap>;
  readonly kernel: KernelTypes;
  /** Descriptors of the types of modules, by name; those that are opened are put here. */
  readonly moduleTypes: Map<string, number>;
}

/**
 * Writes the addresses of maps, global variables and kernel functions into the code. Returns the
 * names of functions that the kernel lacks and that the program declares as weak.
 */
export function relocate(program: AssembledProgram, around: Surroundings): string[] {
  const { code } = program;
  const lacking: string[] = [];
  for (const relocation of program.relocations) {
    const { at } = relocation;
    switch (relocation.kind) {
      case 'map':
        setSource(code, at, Source.mapFd);
        setImmediate32(code, at, known(around.maps, relocation.map).fd);
        break;
      case 'data':
        setSource(code, at, Source.mapValue);
        setImmediate32(code, at, known(around.data, relocation.data).fd);
        setImmediate32(code, at + 1, relocation.offset);
        break;
      case 'kernelHas': {
        const found = around.kernel.kernelFunction(relocation.name);
        setSource(code, at, 0);
        setImmediate32(code, at, found ? 1 : 0);
        setImmediate32(code, at + 1, 0);
        break;
      }
      case 'kernelFunction':
        if (!callKernel(program, relocation, around)) lacking.push(relocation.name);
        break;
      default:
        throw new BpfError(
          'BPF_OBJECT_INVALID',
          `a relocation of kind ${relocation.kind} was not applied`,
        );
    }
  }
  return lacking;
}

function callKernel(
  { name, code }: AssembledProgram,
  call: { readonly at: number; readonly name: string; readonly weak: boolean },
  around: Surroundings,
): boolean {
  const found = around.kernel.kernelFunction(call.name);
  if (found === undefined) {
    if (call.weak) {
      poison(code, call.at);
      return false;
    }
    const message = `the program ${name} needs the function ${call.name}, which this kernel lacks`;
    throw new BpfError('BPF_KERNEL_LACKS', message);
  }
  setSource(code, call.at, CallTo.kernelFunction);
  setImmediate32(code, call.at, found.typeId);
  setOffset(code, call.at, found.module === undefined ? 0 : moduleIndex(found.module, around));
  return true;
}

/** Which of the descriptors given with the program is the module's; the first is the kernel's. */
function moduleIndex(module: string, { moduleTypes }: Surroundings): number {
  if (!moduleTypes.has(module)) moduleTypes.set(module, openModuleTypes(module));
  return [...moduleTypes.keys()].indexOf(module) + 1;
}

function known(maps: ReadonlyMap<string, BpfMap>, name: string): BpfMap {
  const map = maps.get(name);
  if (map) return map;
  throw new BpfError('BPF_OBJECT_INVALID', `code refers to a map ${name} that is not declared`);
}
