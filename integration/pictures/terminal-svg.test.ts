import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminalSvg } from './terminal-svg.ts';

const picture = (lines: readonly string[]): string =>
  terminalSvg({ title: 'a < \x1b[1mb\x1b[22m', command: 'ls', lines, columns: 80 });

test('colours and weight become spans, and nothing of an escape sequence stays', () => {
  const svg = picture(['\x1b[1m\x1b[31mDROPPED\x1b[39m\x1b[22m by \x1b[2mrule\x1b[22m 2']);
  assert.match(
    svg,
    /<tspan fill="#ff7b72" font-weight="bold">DROPPED<\/tspan> by <tspan fill="#9aa4af">rule<\/tspan> 2/,
  );
  assert.ok(!svg.includes('\x1b'));
});

test('text of the output cannot become markup', () => {
  const svg = picture(['<script>&']);
  assert.ok(svg.includes('&lt;script&gt;&amp;'));
  assert.ok(svg.includes('<title id="t">a &lt; b</title>'));
});

test('a line has a height of its own', () => {
  const heights = [picture([]), picture(['a', 'b'])].map((svg) => /height="(\d+)"/.exec(svg)?.[1]);
  assert.deepEqual(heights, ['55', '93']);
});
