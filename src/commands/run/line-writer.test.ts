import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WriteResult } from '../../linux/unblocked-output.ts';
import { LineWriter } from './line-writer.ts';

/** An output that fails on demand; the real ones are in linux/. */
class Output {
  text = '';
  /** Results of the next writes; later ones succeed, or fail with `always`. */
  readonly results: WriteResult[] = [];
  always: WriteResult | undefined;

  write(bytes: Uint8Array): WriteResult {
    const result = this.results.shift() ?? this.always ?? { writtenBytes: bytes.length };
    if ('writtenBytes' in result) {
      this.text += Buffer.from(bytes).toString('utf8', 0, result.writtenBytes);
    }
    return result;
  }
}

function scene(): { output: Output; lines: LineWriter } {
  const output = new Output();
  const noticeOf = (count: number): string => `${count} lost`;
  return { output, lines: new LineWriter({ output, noticeOf }) };
}

const FULL = { code: 'ENOSPC' };
const STALLED = { code: 'EAGAIN' };

describe('the lines of the log', () => {
  it('are written at once', () => {
    const { output, lines } = scene();
    lines.write('a');
    assert.equal(output.text, 'a\n');
    lines.write('b');
    assert.equal(output.text, 'a\nb\n');
  });

  it('are dropped and counted while nothing can be written, and the count is logged afterwards', () => {
    const { output, lines } = scene();
    output.always = FULL;
    lines.write('a');
    lines.write('b');
    assert.equal(lines.droppedCount, 2);
    output.always = undefined;
    lines.write('c');
    lines.write('d');
    assert.equal(output.text, '2 lost\nc\nd\n');
    assert.equal(lines.droppedCount, 2);
  });

  it('wait for a stalled reader also behind a line that was cut', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { output, lines } = scene();
    output.results.push({ writtenBytes: 2 }, FULL, STALLED, STALLED);
    lines.write('cut off');
    lines.write('b');
    t.mock.timers.tick(100);
    assert.equal(output.text, 'cu\n1 lost\nb\n');
    assert.equal(lines.droppedCount, 1);
  });

  it('wait for a stalled reader, in their order', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { output, lines } = scene();
    output.always = STALLED;
    lines.write('a');
    lines.write('b');
    output.always = undefined;
    t.mock.timers.tick(100);
    assert.equal(output.text, 'a\nb\n');
    assert.equal(lines.droppedCount, 0);
  });

  it('are dropped when the buffer is full', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { output, lines } = scene();
    output.always = STALLED;
    const line = 'x'.repeat(1023);
    for (let count = 0; count < 300; count++) lines.write(line);
    assert.equal(lines.droppedCount, 300 - 256);
    output.always = undefined;
    t.mock.timers.tick(100);
    assert.equal(output.text, `${`${line}\n`.repeat(256)}44 lost\n`);
  });

  it('are continued where a write was cut short', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { output, lines } = scene();
    output.results.push({ writtenBytes: 2 }, STALLED);
    lines.write('abcd');
    assert.equal(output.text, 'ab');
    t.mock.timers.tick(100);
    assert.equal(output.text, 'abcd\n');
  });

  it('begin on a new line after one that was cut by a full disk', () => {
    const { output, lines } = scene();
    output.results.push({ writtenBytes: 2 }, FULL);
    lines.write('abcd');
    lines.write('e');
    assert.equal(output.text, 'ab\n1 lost\ne\n');
    assert.equal(lines.droppedCount, 1);
  });

  it('are dropped, with the buffered ones, when the reader has closed', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { output, lines } = scene();
    output.always = STALLED;
    lines.write('a');
    output.always = { code: 'EPIPE' };
    lines.write('b');
    assert.equal(lines.droppedCount, 2);
  });

  it('are flushed at exit as soon as the reader continues, or dropped', () => {
    const { output, lines } = scene();
    output.results.push(STALLED, STALLED, STALLED);
    lines.write('a');
    lines.flush(10_000);
    assert.equal(output.text, 'a\n');
    output.always = STALLED;
    lines.write('b');
    lines.flush(1);
    assert.equal(output.text, 'a\n');
  });
});
