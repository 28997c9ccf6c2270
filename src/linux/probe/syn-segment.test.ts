import assert from 'node:assert/strict';
import { it } from 'node:test';
import { synSegment } from './send-probe.ts';

const PORTS = { sourcePort: 40_000, destinationPort: 80, sequence: 1 };

it('has the checksum of its family', () => {
  const four = synSegment({ source: '10.1.0.1', destination: '10.96.0.10', ...PORTS });
  assert.equal(sumOf(four, [10, 1, 0, 1, 10, 96, 0, 10]), 0xffff);
  const six = synSegment({ source: 'fd44::1', destination: 'fd44::2', ...PORTS });
  const [a, b] = [1, 2].map((last) => [0xfd, 0x44, ...Array<number>(13).fill(0), last]);
  assert.equal(sumOf(six, [...(a ?? []), ...(b ?? [])]), 0xffff);
});

it('is a SYN with its ports', () => {
  const segment = synSegment({ source: '10.1.0.1', destination: '10.96.0.10', ...PORTS });
  assert.deepEqual([segment.readUInt16BE(0), segment.readUInt16BE(2)], [40_000, 80]);
  assert.equal(segment.readUInt8(13), 2);
});

/** Of a right checksum all words together give ones. */
function sumOf(segment: Buffer, addresses: readonly number[]): number {
  const bytes = [...addresses, 0, 6, 0, segment.length, ...segment];
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  return sum;
}
