import { assemble } from './assemble.ts';
import { Attr } from './attr.ts';
import { Command, MapFlag, MapType } from './bpf-constants.ts';
import { BpfError, errnoName, succeeded } from './bpf-error.ts';
import type { BpfObject, ObjectData, ObjectMap } from './bpf-object.ts';
import { type BpfProgram, programOf } from './bpf-program.ts';
import { type Btf, BtfKind, kindAt, TYPE_BYTES, typeBytes } from './btf.ts';
import { coreRelocate } from './core-relocate.ts';
import { nameAt } from './info.ts';
import { KernelTypes } from './kernel-types.ts';
import { loadProgram } from './load-program.ts';
import type { BpfMap } from './map.ts';
import { createMap } from './map-create.ts';
import { kindOfSection, type ProgramKind } from './program-kind.ts';
import { relocate, type Surroundings } from './relocate.ts';
import { bpf, closeDescriptor } from './system-call.ts';
import { tracepointType } from './tracepoint.ts';

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
  /** Passed when several objects are loaded, so that kernel BTF is read once. */
  readonly kernel?: KernelTypes;
}

/** The loaded part of an object; owned by the caller until it is closed. */
export interface LoadedObject {
  readonly programs: ReadonlyMap<string, BpfProgram>;
  /** Those that the object declares, given or made, and one for each section of variables. */
  readonly maps: ReadonlyMap<string, BpfMap>;
  /** Closes the programs and the maps that were made, not those that were given. */
  close(): void;
}

/** Loads maps and programs: all that are requested, or none. */
export function loadObject(object: BpfObject, options: LoadOptions): LoadedObject {
  const opened: { close(): void }[] = [];
  const own = <T extends { close(): void }>(one: T): T => {
    opened.push(one);
    return one;
  };
  const close = (): void => {
    for (const one of opened.splice(0)) one.close();
  };
  const typesFd = uploadTypes(object.btf);
  const moduleTypes = new Map<string, number>();
  try {
    const maps = new Map<string, BpfMap>();
    for (const map of object.maps) {
      const given = options.maps?.get(map.name);
      maps.set(map.name, given ? usable(given, map) : own(makeMap(map, { options, typesFd })));
    }
    const data = new Map<string, BpfMap>();
    for (const section of object.data) {
      const given = options.maps?.get(section.name);
      data.set(section.name, given ?? own(makeData(section, options)));
    }
    const kernel = options.kernel ?? new KernelTypes();
    const around = { maps, data, kernel, moduleTypes };
    const programs = new Map<string, BpfProgram>();
    for (const choice of options.programs) {
      programs.set(choice.name, own(load(object, { choice, around, typesFd })));
    }
    return { programs, maps: new Map([...maps, ...data]), close };
  } catch (error) {
    close();
    throw error;
  } finally {
    // Maps and programs hold their own reference to the types.
    for (const fd of [typesFd, ...moduleTypes.values()]) closeDescriptor(fd);
  }
}

function load(
  object: BpfObject,
  about: {
    readonly choice: ProgramChoice;
    readonly around: Surroundings;
    readonly typesFd: number;
  },
): BpfProgram {
  const { choice, around, typesFd } = about;
  const found = object.programs.find(({ name }) => name === choice.name);
  if (!found) {
    throw new BpfError('BPF_OBJECT_INVALID', `the object has no program ${choice.name}`);
  }
  const program = assemble(object, found);
  const kind = kindOfSection(found.section);
  const lacking = coreRelocate(program, { local: object.btf, kernel: around.kernel });
  lacking.push(...relocate(program, around));
  const fd = loadProgram({
    program,
    type: choice.type ?? kind.type,
    expectedAttachType: choice.expectedAttachType ?? kind.expectedAttachType,
    attachTypeId: attachTypeId(kind, around),
    license: object.license,
    typesFd,
    moduleTypeFds: [...around.moduleTypes.values()],
    lacking,
  });
  return programOf(fd);
}

/** 0: it attaches to no function of the kernel. */
function attachTypeId(
  { attachFunction, tracepoint }: ProgramKind,
  { kernel }: Surroundings,
): number {
  if (tracepoint !== undefined) return tracepointType(kernel, tracepoint).typeId;
  if (attachFunction === undefined) return 0;
  const found = kernel.kernelFunction(attachFunction);
  if (found && found.module === undefined) return found.typeId;
  const message = `this kernel has no function ${attachFunction} to attach to`;
  throw new BpfError('BPF_KERNEL_LACKS', message);
}

/** With another layout, programs and we would read each other's entries wrongly. */
function usable(given: BpfMap, declared: ObjectMap): BpfMap {
  const parts = ['type', 'keySize', 'valueSize', 'flags'] as const;
  const differ = parts.filter((part) => given[part] !== declared[part]);
  if (differ.length === 0) return given;
  const words = differ.map((part) => `${part} ${given[part]} instead of ${declared[part]}`);
  const message = `the existing map ${declared.name} has ${words.join(', ')}`;
  throw new BpfError('BPF_MAP_DIFFERS', message);
}

function makeMap(
  map: ObjectMap,
  { options, typesFd }: { readonly options: LoadOptions; readonly typesFd: number },
): BpfMap {
  const maxEntries = options.maxEntries?.get(map.name) ?? map.maxEntries;
  const { keyTypeId, valueTypeId } = map;
  return createMap({ ...map, maxEntries }, { btfFd: typesFd, keyTypeId, valueTypeId });
}

/** Global variables are the one value of a map; constants cannot be changed after this. */
function makeData(section: ObjectData, { variables }: LoadOptions): BpfMap {
  const bytes = Buffer.from(section.bytes);
  for (const [name, { offset, size }] of section.variables) {
    const value = variables?.get(name);
    if (value === undefined) continue;
    if (value.length !== size) throw new RangeError(`${name} has ${size} bytes`);
    bytes.set(value, offset);
  }
  const map = createMap({
    name: section.name,
    type: MapType.array,
    keySize: 4,
    valueSize: bytes.length,
    maxEntries: 1,
    flags: section.readOnly ? MapFlag.readOnlyForPrograms : 0,
  });
  try {
    map.update(Buffer.alloc(4), bytes);
    if (section.readOnly) {
      const attr = new Attr().u32(0, map.fd);
      succeeded(`freeze ${section.name}`, bpf(Command.mapFreeze, attr));
    }
    return map;
  } catch (error) {
    map.close();
    throw error;
  }
}

const HEADER_BYTES = 24;
const EXTERN = 2;
const LOG_BYTES = 64 * 1024;

/** Gives the kernel the types of an object; a descriptor of them. */
function uploadTypes(btf: Btf): number {
  const bytes = typesForKernel(btf);
  const log = Buffer.alloc(LOG_BYTES);
  const attr = new Attr().pointer(0, bytes).u32(16, bytes.length);
  const fd = bpf(Command.btfLoad, attr);
  if (fd >= 0) return fd;
  bpf(Command.btfLoad, attr.pointer(8, log).u32(20, log.length).u32(24, 1));
  const last = nameAt(log, 0).trimEnd().split('\n').at(-1) ?? '';
  throw new BpfError(
    'BPF_PROGRAM_REFUSED',
    `the kernel rejected the BTF of the object: ${errnoName(-fd)} ${last}`.trimEnd(),
    { errno: -fd, detail: nameAt(log, 0) },
  );
}

/**
 * Types keep their numbers, but some become empty structs: sections and variables have no sizes
 * before linking, and kernel functions are not the object's own. The kernel would reject them, and
 * nothing that it does for us needs them.
 */
function typesForKernel(btf: Btf): Buffer {
  const types: Buffer[] = [];
  for (let id = btf.firstId; id < btf.endId; id += 1) {
    const offset = btf.offsetOf(id);
    types.push(
      isRejected(btf.bytes, offset)
        ? emptyStruct()
        : btf.bytes.subarray(offset, offset + typeBytes(btf.bytes, offset)),
    );
  }
  const body = Buffer.concat(types);
  const strings = btf.bytes.subarray(btf.stringsStart, btf.stringsEnd);
  const header = Buffer.alloc(HEADER_BYTES);
  btf.bytes.copy(header, 0, 0, 4);
  header.writeUInt32LE(HEADER_BYTES, 4);
  header.writeUInt32LE(body.length, 12);
  header.writeUInt32LE(body.length, 16);
  header.writeUInt32LE(strings.length, 20);
  return Buffer.concat([header, body, strings]);
}

function isRejected(bytes: Buffer, offset: number): boolean {
  const kind = kindAt(bytes, offset);
  if (kind === BtfKind.function) return bytes.readUInt16LE(offset + 4) === EXTERN;
  return kind === BtfKind.dataSection || kind === BtfKind.variable;
}

function emptyStruct(): Buffer {
  const type = Buffer.alloc(TYPE_BYTES);
  type.writeUInt32LE((BtfKind.struct << 24) >>> 0, 4);
  return type;
}
