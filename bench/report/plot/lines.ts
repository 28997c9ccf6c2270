import { AREA, at, frame, marker, stroke, styleOf, text } from './svg.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LinePlot {
  readonly title: string;
  readonly yLabel: string;
  readonly xLabel: string;
  readonly yText: (value: number) => string;
  readonly xTicks: readonly { readonly x: number; readonly text: string }[];
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

/** Lines on logarithmic axes: a power is a straight line, and what is flat is level. */
export function linePlot(plot: LinePlot): string {
  const all = plot.series.flatMap(({ points }) => points);
  const xScale = logScale(
    plot.xTicks.map(({ x }) => x),
    { from: AREA.left + 24, to: AREA.right - 24 },
  );
  const ticks = decades(all.map(({ y }) => y));
  const yScale = logScale(ticks, { from: AREA.bottom, to: AREA.top + 16 });
  const grid = ticks.flatMap((value) => {
    const y = yScale(value);
    return [
      `<line class="grid" x1="${AREA.left}" y1="${at(y)}" x2="${AREA.right}" y2="${at(y)}"/>`,
      text({ x: AREA.left - 8, y: y + 4, anchor: 'end', className: 'quiet' }, plot.yText(value)),
    ];
  });
  const xAxis = [
    `<line class="axis" x1="${AREA.left}" y1="${AREA.bottom}" x2="${AREA.right}" y2="${AREA.bottom}"/>`,
    ...plot.xTicks.map(({ x, text: words }) =>
      text({ x: xScale(x), y: AREA.bottom + 20, anchor: 'middle', className: 'quiet' }, words),
    ),
    text({ x: (AREA.left + AREA.right) / 2, y: AREA.bottom + 44, anchor: 'middle' }, plot.xLabel),
  ];
  const lines = plot.series.flatMap(({ name, points }) => {
    const places = points.map(({ x, y }) => ({ x: xScale(x), y: yScale(y) }));
    const path = places.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`);
    const style = styleOf(name);
    return [
      `<path d="${path.join(' ')}" ${stroke(style)}/>`,
      ...places.map((place) => marker(place, style)),
    ];
  });
  const series = plot.series.map(({ name }) => name);
  return frame({ ...plot, series, swatches: 'lines' }, [...grid, ...xAxis, ...lines]);
}

/** Powers of ten around the values; with halves and fifths of them where that would be few. */
function decades(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const first = Math.floor(Math.log10(least));
  const last = Math.ceil(Math.log10(most));
  const powers = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  if (powers.length > 3) return powers;
  const fine = powers.flatMap((power) => [power, power * 2, power * 5]);
  const from = fine.findLastIndex((value) => value <= least);
  const to = fine.findIndex((value) => value >= most);
  return fine.slice(Math.max(0, from), to + 1);
}

function logScale(
  values: readonly number[],
  range: { readonly from: number; readonly to: number },
): (value: number) => number {
  const least = Math.log(Math.min(...values));
  const most = Math.log(Math.max(...values));
  const width = most - least || 1;
  return (value) => range.from + ((Math.log(value) - least) / width) * (range.to - range.from);
}
