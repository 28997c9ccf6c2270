import { type Btf, BtfKind } from './btf.ts';

/** A field of a struct as the source names it, which is stable between kernels. */
export interface Access {
  readonly rootTypeId: number;
  readonly steps: readonly Step[];
  /** Where the compiler placed it. */
  readonly field: Field;
}

export type Step =
  | { readonly kind: 'element'; readonly index: number }
  | { readonly kind: 'member'; readonly name: string };

export interface Field {
  readonly typeId: number;
  readonly bitOffset: number;
  /** 0: not a bit field. */
  readonly bitSize: number;
}

/** `spec` is such as `0:2:1`: element 0 at the pointer, its member 2, of that the member 1. */
export function readAccess(btf: Btf, rootTypeId: number, spec: string): Access {
  const [first = 0, ...rest] = spec.split(':').map(Number);
  const steps: Step[] = [{ kind: 'element', index: first }];
  let field = elementAt(btf, start(btf, rootTypeId), first);
  for (const index of rest) {
    const typeId = btf.resolve(field.typeId);
    if (btf.kind(typeId) === BtfKind.array) {
      steps.push({ kind: 'element', index });
      field = elementAt(btf, { ...field, typeId: btf.array(typeId).elementType }, index);
      continue;
    }
    const member = btf.members(typeId)[index];
    if (member === undefined) throw new RangeError(`no member ${index} in ${btf.name(typeId)}`);
    // Kernels wrap members into structs without a name and unwrap them again.
    if (member.name !== '') steps.push({ kind: 'member', name: member.name });
    field = {
      typeId: member.typeId,
      bitOffset: field.bitOffset + member.bitOffset,
      bitSize: member.bitSize,
    };
  }
  return { rootTypeId, steps, field };
}

/** The same place in another set of types; undefined if it has none. */
export function followAccess(btf: Btf, rootTypeId: number, access: Access): Field | undefined {
  const [first, ...rest] = access.steps;
  const index = first?.kind === 'element' ? first.index : 0;
  let field: Field | undefined = elementAt(btf, start(btf, rootTypeId), index);
  for (const step of rest) {
    if (field === undefined) return undefined;
    const typeId = btf.resolve(field.typeId);
    if (step.kind === 'member') {
      field = memberNamed(btf, { ...field, typeId }, step.name);
    } else if (btf.kind(typeId) === BtfKind.array) {
      field = elementAt(btf, { ...field, typeId: btf.array(typeId).elementType }, step.index);
    } else {
      return undefined;
    }
  }
  return field;
}

/** As a person would write it. */
export function accessName(root: string, { steps }: Access): string {
  const names = steps
    .slice(1)
    .map((step) => (step.kind === 'member' ? `.${step.name}` : `[${step.index}]`));
  return `${root}${names.join('')}`;
}

function start(btf: Btf, rootTypeId: number): Field {
  return { typeId: btf.resolve(rootTypeId), bitOffset: 0, bitSize: 0 };
}

function elementAt(btf: Btf, { typeId, bitOffset }: Field, index: number): Field {
  return { typeId, bitOffset: bitOffset + index * btf.size(typeId) * 8, bitSize: 0 };
}

function memberNamed(btf: Btf, inside: Field, name: string): Field | undefined {
  const kind = btf.kind(inside.typeId);
  if (kind !== BtfKind.struct && kind !== BtfKind.union) return undefined;
  for (const member of btf.members(inside.typeId)) {
    const bitOffset = inside.bitOffset + member.bitOffset;
    const { typeId, bitSize } = member;
    if (member.name === name) return { typeId, bitOffset, bitSize };
    if (member.name !== '') continue;
    const deeper = memberNamed(btf, { typeId: btf.resolve(typeId), bitOffset, bitSize: 0 }, name);
    if (deeper) return deeper;
  }
  return undefined;
}
