import type { Stamp, Writer } from '../../cluster/stamp.ts';
import type { EndpointMove, EndpointState, FieldChange, Happening } from './history-entry.ts';

/**
 * A happening as text: ten thousand of them as objects take three times the memory, and are read
 * only when a person asks.
 */
export function pack(what: Happening): string {
  if (!('writers' in what)) return JSON.stringify(what);
  const { kind, change, fields, resourceVersion, writers } = what;
  const packed: PackedObject = {
    k: kind,
    c: change,
    ...(fields.length === 0 ? {} : { f: fields.map((each) => packedField(each)) }),
    ...(kind === 'endpoints' ? packedSlice(what) : {}),
    ...(resourceVersion === '' ? {} : { v: resourceVersion }),
    ...(writers.length === 0 ? {} : { w: writers.map((writer) => packedWriter(writer)) }),
  };
  return JSON.stringify(packed);
}

export function unpack(text: string): Happening {
  const read = JSON.parse(text) as PackedObject | Happening;
  if (!('k' in read)) return read;
  const { k: kind, c: change, f: fields = [] } = read;
  const about = { change, fields: fields.map(unpackedField), ...unpackedStamp(read) };
  if (kind !== 'endpoints') return { kind, ...about };
  const { s: slice = '', m: moves = [], u } = read;
  return {
    kind,
    slice,
    ...about,
    moves: moves.map(unpackedMove),
    ...(u === undefined ? {} : { uncompared: { before: u[0], after: u[1] } }),
  };
}

/** Memory of a text: two bytes for each character if one of them needs it. */
export function bytesOf(text: string): number {
  return WIDE.test(text) ? 2 * text.length : text.length;
}

const WIDE = /[^\0-\xff]/;

type SliceHappening = Extract<Happening, { kind: 'endpoints' }>;
type PackedMove = [
  from: EndpointState | 0,
  to: EndpointState | 0,
  count: number,
  ...names: string[],
];

interface PackedObject {
  readonly k: 'service' | 'endpoints' | 'node';
  readonly c: 'created' | 'changed' | 'deleted';
  readonly f?: readonly [field: string, before: string, after: string][];
  /** Name of the slice. */
  readonly s?: string;
  readonly m?: readonly PackedMove[];
  readonly u?: readonly [before: number, after: number];
  readonly v?: string;
  readonly w?: readonly [manager: string, operation: string, subresource: string, atMs: number][];
}

function packedSlice({ slice, moves, uncompared: u }: SliceHappening) {
  return {
    s: slice,
    ...(moves.length === 0 ? {} : { m: moves.map((move) => packedMove(move)) }),
    ...(u === undefined ? {} : { u: [u.before, u.after] as const }),
  };
}

function packedMove({ from, to, endpoints }: EndpointMove): PackedMove {
  return [from ?? 0, to ?? 0, endpoints.count, ...endpoints.first];
}

function unpackedMove([from, to, count, ...first]: PackedMove): EndpointMove {
  return {
    ...(from === 0 ? {} : { from }),
    ...(to === 0 ? {} : { to }),
    endpoints: { first, count },
  };
}

function packedField({ field, before, after }: FieldChange): [string, string, string] {
  return [field, before, after];
}

function unpackedField([field, before, after]: [string, string, string]): FieldChange {
  return { field, before, after };
}

function packedWriter({
  manager,
  operation,
  subresource,
  atMs,
}: Writer): [string, string, string, number] {
  return [manager, operation, subresource, atMs];
}

function unpackedStamp({ v: resourceVersion = '', w = [] }: PackedObject): Stamp {
  const writers = w.map(([manager, operation, subresource, atMs]) => {
    return { manager, operation, subresource, atMs };
  });
  return { resourceVersion, writers };
}
