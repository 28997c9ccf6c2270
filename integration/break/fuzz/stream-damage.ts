import fc from 'fast-check';

/** What is done to the bytes of a watch on their way. Places are taken modulo the length. */
export type Injury =
  | { readonly how: 'truncate'; readonly at: number }
  | { readonly how: 'flip'; readonly at: number; readonly bit: number }
  | { readonly how: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly how: 'garbage line'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly how: 'reorder' | 'repeat'; readonly at: number; readonly other: number }
  | { readonly how: 'enormous'; readonly at: number; readonly mebibytes: number };

export interface StreamDamage {
  readonly injuries: readonly Injury[];
  /** Where chunks end; `every`: after each byte. */
  readonly cuts: readonly number[] | 'every';
}

const MEBIBYTE = 1024 * 1024;
const FILLING = Buffer.alloc(MEBIBYTE, 'x');
/** What ends the bytes of a character too early, too late or never, and what is no text at all. */
const BAD_TEXTS = ['ff', 'c0af', 'eda080', 'f4908080', 'e282', '00', '0d0a', '0a0a', 'efbbbf'];
/** Numbers and lengths of protobuf that are too large, do not end, or have a wrong tag before them. */
const BAD_NUMBERS = ['ffffffffffffffffff01', 'ffffffffffffffffffff', '0affffffff0f', '0b', '1f'];
const BAD_BYTES = [...BAD_TEXTS, ...BAD_NUMBERS].map((hex) =>
  Uint8Array.from(Buffer.from(hex, 'hex')),
);

const AT = fc.nat(1_000_000);
const SOME_BYTES = fc.oneof(fc.constantFrom(...BAD_BYTES), fc.uint8Array({ maxLength: 12 }));

/** Injuries of single bytes. */
export function byteInjuries(): fc.Arbitrary<Injury> {
  return fc.oneof(...BYTE_INJURIES) as fc.Arbitrary<Injury>;
}

const BYTE_INJURIES = [
  { weight: 100, arbitrary: fc.record({ how: fc.constant('truncate'), at: AT }) },
  { weight: 200, arbitrary: fc.record({ how: fc.constant('flip'), at: AT, bit: fc.nat(7) }) },
  { weight: 150, arbitrary: fc.record({ how: fc.constant('insert'), at: AT, bytes: SOME_BYTES }) },
];

export function streamDamages(): fc.Arbitrary<StreamDamage> {
  const [at, bytes] = [AT, SOME_BYTES];
  const lines = fc.constantFrom(
    '{',
    '[]',
    'null',
    '{"type":"ADDED"}',
    '<html>',
    '{"type":"ERROR"}',
  );
  const garbage = fc.oneof(
    bytes,
    lines.map((line) => Uint8Array.from(Buffer.from(line))),
  );
  const injury = fc.oneof(
    ...BYTE_INJURIES,
    { weight: 100, arbitrary: fc.record({ how: fc.constant('garbage line'), at, bytes: garbage }) },
    {
      weight: 100,
      arbitrary: fc.record({ how: fc.constantFrom('reorder', 'repeat'), at, other: at }),
    },
    // Below and above what the reader of lines keeps.
    {
      weight: 1,
      arbitrary: fc.record({
        how: fc.constant('enormous'),
        at,
        mebibytes: fc.constantFrom(2, 66),
      }),
    },
  ) as fc.Arbitrary<Injury>;
  const cuts = fc.oneof(
    { weight: 9, arbitrary: fc.array(at, { maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constant<'every'>('every') },
  );
  return fc.record({ injuries: fc.array(injury, { maxLength: 4 }), cuts });
}

/** The events of a watch as chunks, after all that has been done to them. */
export function damagedChunks(
  events: readonly Buffer[],
  damage: StreamDamage,
  framed: (event: Buffer) => Buffer,
): Buffer[] {
  const mixed = damage.injuries.reduce<readonly Buffer[]>(mix, events);
  const whole = Buffer.concat(mixed.map(framed));
  const chunks = cut(hurt(whole, damage.injuries), damage.cuts);
  for (const injury of damage.injuries) {
    if (injury.how !== 'enormous') continue;
    const filling = Array.from({ length: injury.mebibytes }, () => FILLING);
    chunks.splice(injury.at % (chunks.length + 1), 0, ...filling);
  }
  return chunks;
}

function mix(lines: readonly Buffer[], injury: Injury): readonly Buffer[] {
  const mixed = [...lines];
  const at = injury.at % (lines.length + 1);
  if (injury.how === 'garbage line') mixed.splice(at, 0, Buffer.from(injury.bytes));
  if (injury.how === 'reorder' || injury.how === 'repeat') {
    const from = injury.other % Math.max(1, lines.length);
    const moved = lines.slice(from, from + 1);
    if (injury.how === 'reorder') mixed.splice(from, 1);
    mixed.splice(at, 0, ...moved);
  }
  return mixed;
}

/** Of injuries only what is done to single bytes. */
export function hurt(bytes: Buffer, injuries: readonly Injury[]): Buffer {
  return injuries.reduce(hurtBytes, bytes);
}

function hurtBytes(bytes: Buffer, injury: Injury): Buffer {
  const at = injury.at % (bytes.length + 1);
  if (injury.how === 'truncate') return bytes.subarray(0, at);
  if (injury.how === 'insert') {
    return Buffer.concat([bytes.subarray(0, at), injury.bytes, bytes.subarray(at)]);
  }
  if (injury.how !== 'flip' || at === bytes.length) return bytes;
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << injury.bit);
  return copy;
}

function cut(bytes: Buffer, cuts: StreamDamage['cuts']): Buffer[] {
  if (cuts === 'every') return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const ends = cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}
