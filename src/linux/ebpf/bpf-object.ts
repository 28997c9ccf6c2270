import type { Btf } from './btf.ts';
import type { MapDefinition } from './map.ts';

/** The contents of a compiled object file, parsed but not loaded. */
export interface BpfObject {
  readonly license: string;
  readonly programs: readonly ObjectProgram[];
  /** Functions that programs call, and that are put behind each program that does. */
  readonly functions: readonly ObjectFunction[];
  readonly maps: readonly ObjectMap[];
  readonly data: readonly ObjectData[];
  readonly btf: Btf;
}

/** A run of instructions with a name. */
export interface ObjectFunction {
  readonly name: string;
  readonly section: string;
  /** Where in its section it begins, counted in instructions. */
  readonly start: number;
  readonly instructions: Buffer;
  readonly relocations: readonly Relocation[];
  readonly funcInfo: readonly FuncInfo[];
  readonly lineInfo: readonly LineInfo[];
  readonly coreRelocations: readonly CoreRelocation[];
}

export type ObjectProgram = ObjectFunction;

export interface ObjectMap extends MapDefinition {
  readonly keyTypeId: number;
  readonly valueTypeId: number;
}

/** Global variables of one section: a map with one entry for the kernel. */
export interface ObjectData {
  /** Such as `.rodata`. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly readOnly: boolean;
  readonly variables: ReadonlyMap<string, { readonly offset: number; readonly size: number }>;
}

/** All `at` are instructions counted from the start of the function. */
export type Relocation =
  | { readonly kind: 'map'; readonly at: number; readonly map: string }
  | { readonly kind: 'data'; readonly at: number; readonly data: string; readonly offset: number }
  | { readonly kind: 'call'; readonly at: number; readonly target: CodePlace }
  | { readonly kind: 'address'; readonly at: number; readonly target: CodePlace }
  /** Is 1 or 0: whether the kernel has such a function. */
  | { readonly kind: 'kernelHas'; readonly at: number; readonly name: string }
  | {
      readonly kind: 'kernelFunction';
      readonly at: number;
      readonly name: string;
      readonly weak: boolean;
    };

export interface CodePlace {
  readonly section: string;
  readonly instruction: number;
}

export interface FuncInfo {
  readonly at: number;
  readonly typeId: number;
}

export interface LineInfo {
  readonly at: number;
  readonly fileOffset: number;
  readonly lineOffset: number;
  readonly lineAndColumn: number;
}

export interface CoreRelocation {
  readonly at: number;
  readonly typeId: number;
  readonly access: string;
  readonly kind: number;
}
