import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inBlocks, type Point, trendOf } from './trend.ts';

/** The same every time, between 0 and 1 (Park and Miller). */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function points(count: number, of: (x: number) => number): Point[] {
  return Array.from({ length: count }, (_, x) => ({ x, y: of(x) }));
}

describe('the trend of a figure', () => {
  it('is the slope of a line, with no doubt where there is no noise', () => {
    const { slope, least, most, intercept } = trendOf(points(20, (x) => 5 + 3 * x));
    assert.deepEqual([slope, least, most, intercept], [3, 3, 3, 5]);
  });

  it('is sure of a direction in noise alone about as often as it says: 5 times in 100', () => {
    const random = randomNumbers();
    const isSure = (): boolean => {
      const { least, most } = trendOf(points(20, () => 100 + 10 * random()));
      return least > 0 || most < 0;
    };
    const times = Array.from({ length: 1_000 }, isSure).filter(Boolean).length;
    assert.ok(times > 20 && times < 80, `${times} of 1,000`);
  });

  it('is found below noise that is ten times as large as one step', () => {
    const random = randomNumbers();
    const { least, slope } = trendOf(points(30, (x) => 100 + x + 10 * random()));
    assert.ok(least > 0 && slope > 0.5 && slope < 1.5, `${least} ${slope}`);
  });

  it('does not follow a single burst', () => {
    const random = randomNumbers();
    const { slope } = trendOf(points(30, (x) => (x === 29 ? 10_000 : 100 + random())));
    assert.ok(Math.abs(slope) < 0.1, String(slope));
  });
});

it('takes the floor of each block, which a sawtooth of garbage does not move', () => {
  const sawtooth = points(100, (x) => 50 + (x % 10));
  const floors = inBlocks(sawtooth, { count: 10, of: (values) => Math.min(...values) });
  assert.equal(floors.length, 10);
  assert.ok(floors.every(({ y }) => y === 50));
});
