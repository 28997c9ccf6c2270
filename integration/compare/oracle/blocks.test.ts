import assert from 'node:assert/strict';
import { it } from 'node:test';
import { blocksOf } from './blocks.ts';

const SOURCE = `function f(a) {
  if (a) return 1;
  return [2].map((x) => x);
}
`;

function range(text: string, count: number) {
  const startOffset = SOURCE.indexOf(text);
  return { startOffset, endOffset: startOffset + text.length, count };
}

it('lists the blocks that never ran, by the line they begin in', () => {
  const rest = '\n  return [2].map((x) => x);\n';
  const functions = [
    [range(SOURCE, 3), range('return 1;', 3), range(rest, 0)],
    [range('(x) => x', 0)],
  ];
  assert.deepEqual(blocksOf(SOURCE, functions), {
    total: 4,
    uncovered: [{ line: 3, text: rest.trim(), own: rest.trim(), blocks: 2 }],
  });
});

it('finds nothing missing where everything ran', () => {
  assert.deepEqual(blocksOf(SOURCE, [[range(SOURCE, 1)]]), { total: 1, uncovered: [] });
});
