import { s, setAttribute } from './dom.ts';

const WIDTH = 150;
const HEIGHT = 40;

/** A small line of the last minutes; gaps where nothing was measured. */
export function sparkOf(tone: string): {
  readonly element: SVGElement;
  update(values: readonly (number | undefined)[]): void;
} {
  const area = s('path', { class: 'spark-area' });
  const line = s('path', { class: 'spark-line' });
  const element = s(
    'svg',
    {
      class: `spark ${tone}`,
      at: { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    },
    area,
    line,
  );
  const update = (values: readonly (number | undefined)[]): void => {
    const path = linePath(values);
    setAttribute(line, 'd', path.line);
    setAttribute(area, 'd', path.area);
    setAttribute(element, 'data-points', values.length);
  };
  return { element, update };
}

function linePath(values: readonly (number | undefined)[]): {
  readonly line: string;
  readonly area: string;
} {
  const known = values.filter((value) => value !== undefined);
  if (known.length < 2) return { line: '', area: '' };
  const top = Math.max(...known) * 1.15 || 1;
  let [line, area] = ['', ''];
  let previousX: number | undefined;
  for (const [at, value] of values.entries()) {
    if (value === undefined) {
      if (previousX !== undefined) area += `L${previousX} ${HEIGHT}Z`;
      previousX = undefined;
      continue;
    }
    const x = round((at / (values.length - 1)) * WIDTH);
    const y = round(HEIGHT - 3 - (value / top) * (HEIGHT - 8));
    line += `${previousX === undefined ? 'M' : 'L'}${x} ${y}`;
    area += previousX === undefined ? `M${x} ${HEIGHT}L${x} ${y}` : `L${x} ${y}`;
    previousX = x;
  }
  if (previousX !== undefined) area += `L${previousX} ${HEIGHT}Z`;
  return { line, area };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
