import { AREA, at, frame, text } from '../../../bench/report/plot/svg.ts';
import type { SoakResult } from './result.ts';
import { FIGURES, pointsOf, verdictOn, warmSamples } from './verdicts.ts';

const COLOUR = '#2f81f7';
const TREND_COLOUR = '#db6d28';
const TOP = 70;
const GAP = 22;
const HOUR_SECONDS = 3_600;
const MINUTE_SECONDS = 60;

/** A strip for each figure: its samples, and the line that was fitted to them after the warm-up. */
export function soakPlot(result: SoakResult): string {
  const { samples, mode, minutes } = result;
  const lastSeconds = samples.at(-1)?.atSeconds ?? 1;
  const width = AREA.right - AREA.left;
  const x = (seconds: number): number => AREA.left + (seconds / lastSeconds) * width;
  const height = (AREA.bottom - TOP) / FIGURES.length;
  const warmFrom = warmSamples(samples)[0]?.atSeconds ?? 0;
  const strips = FIGURES.flatMap((figure, index) => {
    const [top, bottom] = [TOP + index * height + GAP, TOP + (index + 1) * height];
    const points = pointsOf(figure, samples);
    const most = 1.1 * Math.max(...points.map(({ y }) => y));
    const y = (value: number): number => bottom - (value / most) * (bottom - top);
    const { growth } = verdictOn(figure, samples);
    const fitted = (seconds: number): number =>
      y(growth.intercept + (growth.slope / HOUR_SECONDS) * seconds);
    const path = points.map(
      (point, nth) => `${nth === 0 ? 'M' : 'L'}${at(x(point.x))} ${at(y(point.y))}`,
    );
    return [
      `<line class="axis" x1="${AREA.left}" y1="${at(bottom)}" x2="${AREA.right}" y2="${at(bottom)}"/>`,
      text(
        { x: AREA.left, y: top - 6, className: 'quiet' },
        `${figure.name}${figure.unit && `, ${figure.unit}`}`,
      ),
      text({ x: AREA.left - 8, y: bottom, anchor: 'end', className: 'quiet' }, '0'),
      text({ x: AREA.left - 8, y: top + 8, anchor: 'end', className: 'quiet' }, most.toFixed(0)),
      `<path d="${path.join(' ')}" fill="none" stroke="${COLOUR}" stroke-width="1"/>`,
      `<line x1="${at(x(warmFrom))}" y1="${at(fitted(warmFrom))}" x2="${at(x(lastSeconds))}" y2="${at(fitted(lastSeconds))}" stroke="${TREND_COLOUR}" stroke-width="2"/>`,
    ];
  });
  const ticks = Array.from({ length: 6 }, (_, index) => (lastSeconds * index) / 5).map((seconds) =>
    text(
      { x: x(seconds), y: AREA.bottom + 20, anchor: 'middle', className: 'quiet' },
      `${(seconds / MINUTE_SECONDS).toFixed(1)}`,
    ),
  );
  const label = text(
    { x: (AREA.left + AREA.right) / 2, y: AREA.bottom + 44, anchor: 'middle' },
    'minutes',
  );
  const title = `Mode ${mode} under changes and clients for ${minutes} minutes`;
  const yLabel = 'each sample, and the line fitted after the warm-up';
  return frame({ title, yLabel, series: [], swatches: 'lines' }, [...strips, ...ticks, label]);
}
