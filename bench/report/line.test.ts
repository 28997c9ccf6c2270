import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atX, lineThrough } from './line.ts';

describe('lineThrough()', () => {
  it('finds the line that all points are on', () => {
    const line = lineThrough([1, 10, 40].map((x) => ({ x, y: 5 + 3 * x })));
    assert.ok(line);
    assert.ok(Math.abs(line.base - 5) < 1e-9);
    assert.ok(Math.abs(line.perX - 3) < 1e-9);
    assert.ok(Math.abs(line.explains - 1) < 1e-9);
    assert.ok(Math.abs(atX(line, 5000) - 15_005) < 1e-6);
  });

  it('says how little it explains where y does not depend on x', () => {
    const line = lineThrough([
      { x: 1, y: 1 },
      { x: 2, y: 5 },
      { x: 3, y: 1 },
    ]);
    assert.equal(line?.explains, 0);
  });

  it('needs three points, at different places', () => {
    assert.equal(
      lineThrough([
        { x: 1, y: 1 },
        { x: 2, y: 2 },
      ]),
      undefined,
    );
    assert.equal(lineThrough([1, 2, 3].map((y) => ({ x: 7, y }))), undefined);
  });
});
