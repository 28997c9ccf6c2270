import type { BpfMap } from './map.ts';
import type { BpfObject } from './object.ts';
import type { BpfProgram } from './program.ts';

export interface ProgramChoice {
  readonly name: string;
  /** Both follow from the section's name, such as `cgroup/connect4`, unless given. */
  readonly type?: number;
  readonly expectedAttachType?: number;
}

export interface LoadOptions {
  /** Maps that are there already, by name: they are used instead of new ones. */
  readonly maps?: ReadonlyMap<string, BpfMap>;
  /** Sizes other than those in the object, by name. */
  readonly maxEntries?: ReadonlyMap<string, number>;
  /** Values of `const volatile` and other global variables, by name. */
  readonly variables?: ReadonlyMap<string, Uint8Array>;
  readonly programs: readonly ProgramChoice[];
}

/** What of an object is in the kernel; ours until it is closed. */
export interface LoadedObject {
  readonly programs: ReadonlyMap<string, BpfProgram>;
  readonly maps: ReadonlyMap<string, BpfMap>;
  /** Closes the programs and the maps that were made, not those that were given. */
  close(): void;
}

export function loadObject(_object: BpfObject, _options: LoadOptions): LoadedObject {
  throw new Error('not yet');
}
