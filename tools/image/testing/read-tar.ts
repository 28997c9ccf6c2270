import assert from 'node:assert/strict';

export interface TarMember {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly target: string;
  readonly bytes: Buffer;
}

/** Reads a tar of the plain form, and checks the checksum of each header. */
export function readTar(archive: Buffer): TarMember[] {
  const members: TarMember[] = [];
  let at = 0;
  while (archive[at] !== 0) {
    const header = archive.subarray(at, at + 512);
    const text = (from: number, to: number) =>
      header.toString('utf8', from, to).replace(/\0.*$/s, '');
    const size = Number.parseInt(text(124, 136), 8);
    const spaced = Buffer.from(header).fill(' ', 148, 156);
    const sum = spaced.reduce((total, byte) => total + byte, 0);
    assert.equal(Number.parseInt(text(148, 156), 8), sum, 'checksum');
    assert.equal(text(257, 263), 'ustar');
    members.push({
      path: text(0, 100),
      mode: text(100, 108),
      type: text(156, 157),
      target: text(157, 257),
      bytes: archive.subarray(at + 512, at + 512 + size),
    });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  assert.equal(archive.length, at + 1024, 'ends in two empty blocks');
  return members;
}
