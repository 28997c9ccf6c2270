import { AREA, at, frame, styleOf, text } from './svg.ts';

export interface BarPlot {
  readonly title: string;
  readonly yLabel: string;
  readonly yText: (value: number) => string;
  readonly groups: readonly {
    readonly name: string;
    readonly bars: readonly { readonly series: string; readonly value: number }[];
  }[];
}

const STEPS = 5;
const GAP = 0.2;

/** Bars from zero, in groups. */
export function barPlot(plot: BarPlot): string {
  const values = plot.groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const top = roundUp(Math.max(...values));
  const y = (value: number): number => AREA.bottom - (value / top) * (AREA.bottom - AREA.top - 16);
  const grid = Array.from({ length: STEPS + 1 }, (_, index) => (top * index) / STEPS).flatMap(
    (value) => [
      `<line class="grid" x1="${AREA.left}" y1="${at(y(value))}" x2="${AREA.right}" y2="${at(y(value))}"/>`,
      text(
        { x: AREA.left - 8, y: y(value) + 4, anchor: 'end', className: 'quiet' },
        plot.yText(value),
      ),
    ],
  );
  const width = (AREA.right - AREA.left) / plot.groups.length;
  const widest = Math.max(...plot.groups.map(({ bars }) => bars.length));
  const each = (width * (1 - GAP)) / widest;
  const groups = plot.groups.flatMap(({ name, bars }, index) => {
    const middle = AREA.left + width * (index + 0.5);
    const left = middle - (each * bars.length) / 2;
    return [
      ...bars.map(({ series, value }, bar) => {
        const place = `x="${at(left + each * bar + 2)}" y="${at(y(value))}"`;
        const extent = `width="${at(each - 4)}" height="${at(AREA.bottom - y(value))}"`;
        return `<rect ${place} ${extent} fill="${styleOf(series).colour}"/>`;
      }),
      text(
        {
          x: middle,
          y: AREA.bottom + 20,
          anchor: 'middle',
          className: 'quiet',
        },
        name,
      ),
    ];
  });
  const series = [...new Set(plot.groups.flatMap(({ bars }) => bars.map((bar) => bar.series)))];
  const axis = `<line class="axis" x1="${AREA.left}" y1="${AREA.bottom}" x2="${AREA.right}" y2="${AREA.bottom}"/>`;
  return frame({ ...plot, series, swatches: 'squares' }, [...grid, ...groups, axis]);
}

/** To a number with one digit that says something. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.ceil(value / power) * power;
}
