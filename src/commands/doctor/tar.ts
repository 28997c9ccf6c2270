const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const ONLY_OWNER = 0o600;
const FILE = '0';

export interface TarFile {
  /** At most 100 bytes. */
  readonly path: string;
  readonly text: string;
}

/** An archive in the form that POSIX calls ustar. All files have the same date. */
export function tarOf(files: readonly TarFile[], dateMs: number): Buffer {
  const blocks = files.flatMap(({ path, text }) => {
    const bytes = Buffer.from(text, 'utf8');
    return [headerOf({ path, size: bytes.length, dateMs }), bytes, paddingAfter(bytes.length)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function headerOf(file: { path: string; size: number; dateMs: number }): Buffer {
  if (Buffer.byteLength(file.path) > NAME_BYTES) {
    throw new RangeError(`the path ${file.path} is too long for an archive`);
  }
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(file.path, 0, 'utf8');
  writeOctal(block, ONLY_OWNER, { at: 100, digits: 7 });
  writeOctal(block, 0, { at: 108, digits: 7 });
  writeOctal(block, 0, { at: 116, digits: 7 });
  writeOctal(block, file.size, { at: 124, digits: 11 });
  writeOctal(block, Math.floor(file.dateMs / 1000), { at: 136, digits: 11 });
  block.write(FILE, 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  // The sum is over the header with spaces in its own place.
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  writeOctal(block, sum, { at: 148, digits: 6 });
  block[154] = 0;
  return block;
}

function writeOctal(block: Buffer, value: number, to: { at: number; digits: number }): void {
  block.write(value.toString(8).padStart(to.digits, '0'), to.at, 'latin1');
}

function paddingAfter(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}
