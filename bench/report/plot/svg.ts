import { PUBLISHED } from '../../contestants.ts';

/** The frame that every plot has: sizes, colours for light and dark, a title and a legend. */
const WIDTH = 760;
const HEIGHT = 456;
export const AREA = { left: 84, right: 740, top: 132, bottom: 388 } as const;

/** Told apart by colour and by shape; the colours have enough contrast on white and on black. */
export interface Style {
  readonly colour: string;
  readonly dash: string;
  readonly marker: 'circle' | 'square' | 'diamond' | 'triangle';
}

/** In the order in which contestants are published. */
const COLOURS = [
  '#2f81f7',
  '#db6d28',
  '#b58900',
  '#8250df',
  '#2da44e',
  '#bf4bba',
  '#1b9e9e',
  '#cf4a5b',
  '#6e7781',
] as const;
const MARKERS = ['circle', 'square', 'diamond', 'triangle'] as const;
const OF_OTHERS = '7 4';
const OTHER_STYLE: Style = { colour: '#8b949e', dash: '2 3', marker: 'square' };

/** Fairlead's lines are solid, those of others dashed. */
export function styleOf(name: string): Style {
  const index = PUBLISHED.findIndex((each) => each.name === name);
  const colour = COLOURS[index];
  const marker = MARKERS[index % MARKERS.length];
  if (colour === undefined || marker === undefined) return OTHER_STYLE;
  return { colour, marker, dash: PUBLISHED[index]?.isOurs === true ? '' : OF_OTHERS };
}

const CSS = `
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 }
.quiet { fill: #59636e }
.paper { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.axis { stroke: #59636e; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .quiet { fill: #9198a1 }
  .paper { fill: #0d1117 }
  .grid { stroke: #3d444d }
  .axis { stroke: #9198a1 }
}`;

const LEGEND_COLUMN = 224;
const LEGEND_COLUMNS = 3;

export function frame(
  of: {
    readonly title: string;
    readonly yLabel: string;
    readonly series: readonly string[];
    readonly swatches: 'lines' | 'squares';
  },
  content: readonly string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${escaped(of.title)}</title>`,
    `<style>${CSS}\n</style>`,
    `<rect class="paper" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    text({ x: 16, y: 28, className: 'title' }, of.title),
    text({ x: 16, y: 48, className: 'quiet' }, of.yLabel),
    ...of.series.flatMap((name, index) => legendEntry(name, index, of.swatches)),
    ...content,
    '</svg>',
    '',
  ].join('\n');
}

function legendEntry(name: string, index: number, swatches: 'lines' | 'squares'): string[] {
  const x = 24 + (index % LEGEND_COLUMNS) * LEGEND_COLUMN;
  const y = 66 + Math.floor(index / LEGEND_COLUMNS) * 18;
  const style = styleOf(name);
  const words = text({ x: x + 26, y: y + 4 }, name);
  if (swatches === 'squares') {
    const place = `x="${x - 2}" y="${y - 7}" width="14" height="14"`;
    return [`<rect ${place} fill="${style.colour}"/>`, words];
  }
  return [
    `<line x1="${x - 8}" y1="${y}" x2="${x + 18}" y2="${y}" ${stroke(style)}/>`,
    marker({ x: x + 5, y }, style),
    words,
  ];
}

export function stroke({ colour, dash }: Style): string {
  const dashes = dash === '' ? '' : ` stroke-dasharray="${dash}"`;
  return `stroke="${colour}" stroke-width="2" fill="none"${dashes}`;
}

export function marker(
  { x, y }: { x: number; y: number },
  { colour, marker: shape }: Style,
): string {
  const fill = `fill="${colour}"`;
  if (shape === 'circle') return `<circle cx="${at(x)}" cy="${at(y)}" r="4.5" ${fill}/>`;
  const corners = {
    square: [
      [-4, -4],
      [4, -4],
      [4, 4],
      [-4, 4],
    ],
    diamond: [
      [0, -6],
      [6, 0],
      [0, 6],
      [-6, 0],
    ],
    triangle: [
      [0, -6],
      [6, 5],
      [-6, 5],
    ],
  }[shape];
  const points = corners.map(([dx = 0, dy = 0]) => `${at(x + dx)},${at(y + dy)}`).join(' ');
  return `<polygon points="${points}" ${fill}/>`;
}

export function text(
  place: {
    readonly x: number;
    readonly y: number;
    readonly anchor?: 'start' | 'middle' | 'end';
    readonly className?: string;
  },
  words: string,
): string {
  const anchor = place.anchor === undefined ? '' : ` text-anchor="${place.anchor}"`;
  const className = place.className === undefined ? '' : ` class="${place.className}"`;
  return `<text x="${at(place.x)}" y="${at(place.y)}"${anchor}${className}>${escaped(words)}</text>`;
}

/** Same figures, same bytes. */
export function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
