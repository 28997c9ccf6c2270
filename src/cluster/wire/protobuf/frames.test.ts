import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { FrameSplitter } from './protobuf-encoding.ts';

function frame(content: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

function split(chunks: readonly Buffer[], maxFrameBytes?: number): (string | undefined)[] {
  const splitter = new FrameSplitter(maxFrameBytes === undefined ? {} : { maxFrameBytes });
  return chunks
    .flatMap((chunk) => [...splitter.push(chunk)])
    .map((content) => content?.toString('hex'));
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  const sorted = ends.sort((a, b) => a - b);
  return sorted.map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end));
}

it('returns the same frames for any chunks, and none that are too long', () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 20 }));
  fc.assert(
    fc.property(contents, fc.array(fc.nat()), (frames, places) => {
      const bytes = Buffer.concat(frames.map(frame));
      const kept = frames.filter(({ length }) => length > 0);
      const expected = kept.map((content) =>
        content.length > 12 ? undefined : Buffer.from(content).toString('hex'),
      );
      assert.deepEqual(split(cut(bytes, places), 12), expected);
    }),
  );
});

it('buffers nothing of a frame that is too long, whatever its declared length', () => {
  const start = Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
  assert.deepEqual(split([start, Buffer.alloc(100_000), Buffer.alloc(100_000)]), [undefined]);
});
