import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PALETTE_COLOURS = 256;
const RGB = 2;
const RGBA = 6;
const INDEXED = 3;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB of each pixel. */
  readonly colours: Uint32Array;
}

/** The same picture with at most 256 colours: screens have few, and the file is a third. */
export function smallPng(png: Buffer): Buffer {
  const pixels = decode(png);
  const counts = new Map<number, number>();
  for (const colour of pixels.colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = paletteOf(counts);
  const indexOf = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  return encode(pixels, palette, indexOf);
}

function decode(png: Buffer): Pixels {
  const [width, height, type] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25]];
  if (type !== RGB && type !== RGBA) throw new TypeError(`colour type ${type} is not read`);
  const bytes = type === RGB ? 3 : 4;
  const data = inflateSync(Buffer.concat(chunksOf(png, 'IDAT')));
  const line = width * bytes;
  const colours = new Uint32Array(width * height);
  let before: Buffer = Buffer.alloc(line);
  for (let y = 0; y < height; y += 1) {
    const start = y * (line + 1);
    const row = data.subarray(start + 1, start + 1 + line);
    unfilter(row, { filter: data[start] ?? 0, before, bytes });
    for (let x = 0; x < width; x += 1) colours[y * width + x] = row.readUIntBE(x * bytes, 3);
    before = row;
  }
  return { width, height, colours };
}

function chunksOf(png: Buffer, wanted: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === wanted) {
      found.push(png.subarray(at + 8, at + 8 + length));
    }
    at += length + 12;
  }
  return found;
}

/** Undoes the filter of a line: https://www.w3.org/TR/png-3/#9Filter-types. */
function unfilter(
  row: Buffer,
  of: { readonly filter: number; readonly before: Buffer; readonly bytes: number },
): void {
  for (let at = 0; at < row.length; at += 1) {
    const left = at < of.bytes ? 0 : (row[at - of.bytes] ?? 0);
    const up = of.before[at] ?? 0;
    const corner = at < of.bytes ? 0 : (of.before[at - of.bytes] ?? 0);
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][of.filter] ?? 0;
    row[at] = ((row[at] ?? 0) + guess) & 0xff;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** The most frequent colours of each coarse shade first, so that rare hues are kept too. */
function paletteOf(counts: ReadonlyMap<number, number>): number[] {
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const shades = new Map<number, number>();
  for (const colour of byCount) {
    const shade = colour & 0xf0f0f0;
    if (!shades.has(shade)) shades.set(shade, colour);
  }
  const firsts = [...shades.values()].slice(0, PALETTE_COLOURS * 0.75);
  return [...new Set([...firsts, ...byCount])].slice(0, PALETTE_COLOURS);
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Infinity];
  for (const [index, each] of palette.entries()) {
    const red = ((each >> 16) & 0xff) - ((colour >> 16) & 0xff);
    const green = ((each >> 8) & 0xff) - ((colour >> 8) & 0xff);
    const blue = (each & 0xff) - (colour & 0xff);
    const distance = red * red + green * green + blue * blue;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function encode(
  { width, height, colours }: Pixels,
  palette: readonly number[],
  indexOf: ReadonlyMap<number, number>,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, INDEXED, 0, 0, 0], 8);
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      lines[y * (width + 1) + 1 + x] = indexOf.get(colours[y * width + x] ?? 0) ?? 0;
    }
  }
  const table = Buffer.from(
    palette.flatMap((each) => [each >> 16, (each >> 8) & 0xff, each & 0xff]),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
