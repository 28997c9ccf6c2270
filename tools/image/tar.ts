import { completed, type Entry, modeOf } from './entry.ts';
import { ImageError } from './image-error.ts';

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const TYPE = { file: '0', link: '2', folder: '5' } as const;

/**
 * A tar of the entries, in the form that POSIX calls ustar. The bytes follow from the entries alone:
 * everything belongs to root and is of the first second of 1970.
 */
export function tar(entries: readonly Entry[]): Buffer {
  const blocks = completed(entries).flatMap((entry) =>
    entry.kind === 'file'
      ? [header(entry, entry.bytes.length), entry.bytes, padding(entry.bytes.length)]
      : [header(entry, 0)],
  );
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function header(entry: Entry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const name = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  writeName(block, name, 0);
  writeOctal(block, modeOf(entry), { at: 100, digits: 7 });
  writeOctal(block, 0, { at: 108, digits: 7 });
  writeOctal(block, 0, { at: 116, digits: 7 });
  writeOctal(block, size, { at: 124, digits: 11 });
  writeOctal(block, 0, { at: 136, digits: 11 });
  block.write(TYPE[entry.kind], 156, 'latin1');
  if (entry.kind === 'link') writeName(block, entry.target, 157);
  block.write('ustar\u000000', 257, 'latin1');
  writeOctal(block, checksum(block), { at: 148, digits: 6 });
  return block;
}

/** The format has ways for longer names; nothing in the image needs one. */
function writeName(block: Buffer, name: string, at: number): void {
  if (Buffer.byteLength(name) > NAME_BYTES) {
    throw new ImageError(
      'IMAGE_PATH_TOO_LONG',
      `the path ${name} is too long for a tar archive`,
      'shorten it',
    );
  }
  block.write(name, at, 'utf8');
}

function writeOctal(block: Buffer, value: number, to: { at: number; digits: number }): void {
  block.write(value.toString(8).padStart(to.digits, '0'), to.at, 'latin1');
}

/** Over the header with spaces where the checksum will stand; it ends in NUL and the last space. */
function checksum(block: Buffer): number {
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block[154] = 0;
  return sum;
}

function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}
