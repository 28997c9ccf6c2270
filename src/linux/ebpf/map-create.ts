import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { succeeded } from './bpf-error.ts';
import { mapInfo } from './info.ts';
import { BpfMap, type MapDefinition } from './map.ts';
import { openPin } from './pin.ts';
import { bpf, closeDescriptor } from './system-call.ts';

/** Types of key and value in a BTF that the kernel has; socket storage is not made without. */
export interface MapTypes {
  readonly btfFd: number;
  readonly keyTypeId: number;
  readonly valueTypeId: number;
}

export function createMap(definition: MapDefinition, types?: MapTypes): BpfMap {
  const attr = new Attr()
    .u32(0, definition.type)
    .u32(4, definition.keySize)
    .u32(8, definition.valueSize)
    .u32(12, definition.maxEntries)
    .u32(16, definition.flags)
    .name(28, definition.name);
  if (types && types.valueTypeId !== 0) {
    attr.u32(48, types.btfFd).u32(52, types.keyTypeId).u32(56, types.valueTypeId);
  }
  const fd = succeeded(`create the map ${definition.name}`, bpf(Command.mapCreate, attr));
  try {
    return new BpfMap(definition, { fd, id: mapInfo(fd).id });
  } catch (error) {
    closeDescriptor(fd);
    throw error;
  }
}

export function openPinnedMap(path: string): BpfMap {
  return mapOf(openPin('a map', path));
}

/** From a descriptor, which the map owns from now on. */
export function mapOf(fd: number): BpfMap {
  try {
    const info = mapInfo(fd);
    return new BpfMap(info, { fd, id: info.id });
  } catch (error) {
    closeDescriptor(fd);
    throw error;
  }
}
