import { type Btf, BtfKind, TYPE_BYTES } from './btf.ts';
import { BpfError } from './errors.ts';
import type { ObjectMap } from './object.ts';

const DATA_SECTION_ENTRY_BYTES = 12;

/**
 * The maps that an object declares: variables of the section `.maps` whose type describes the map.
 * A number is the length of an array, a type is the target of a pointer.
 */
export function mapDefinitions(btf: Btf): ObjectMap[] {
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
