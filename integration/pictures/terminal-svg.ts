import { stripVTControlCharacters } from 'node:util';

/** A terminal with what a command prints, as an SVG that types the command and shows the lines. */
export interface TerminalPicture {
  /** What a screen reader says. */
  readonly title: string;
  readonly command: string;
  /** As printed for a terminal, with colours as escape sequences. */
  readonly lines: readonly string[];
  readonly columns: number;
}

const ESCAPE = '\x1b';
const STYLE = new RegExp(`^${ESCAPE}\\[([0-9;]*)m$`);
const STYLES = new RegExp(`(${ESCAPE}\\[[0-9;]*m)`);

const CELL_WIDTH = 8.43;
const LINE_HEIGHT = 19;
const MARGIN = 18;
const FONT_SIZE = 14;
const TYPED_PER_SECOND = 28;
const LINE_SECONDS = 0.05;
const PAUSE_SECONDS = 0.4;

/** Colours of Fairlead's output, by the number of the escape sequence; each readable on the ground. */
const COLOURS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
  '34': '#79c0ff',
  '35': '#d2a8ff',
  '36': '#76e3ea',
};
const INK = '#e6edf3';
const DIM = '#9aa4af';
const GROUND = '#0d1117';

/** It moves once, and stands still for who asked for less motion. */
export function terminalSvg({ title, command, lines, columns }: TerminalPicture): string {
  const width = Math.ceil(columns * CELL_WIDTH + 2 * MARGIN);
  const height = (lines.length + 1) * LINE_HEIGHT + 2 * MARGIN;
  const typedSeconds = command.length / TYPED_PER_SECOND;
  const shown = lines.map((line, index) => {
    const after = typedSeconds + PAUSE_SECONDS + index * LINE_SECONDS;
    return textLine(index + 1, spans(line), after);
  });
  const letters = [...command].map((letter, index) => {
    const delay = (index / TYPED_PER_SECOND).toFixed(2);
    return `<tspan class="a" style="animation-delay:${delay}s">${escapeXml(letter)}</tspan>`;
  });
  const prompt = `<tspan fill="${DIM}">$ </tspan><tspan font-weight="bold">${letters.join('')}</tspan>`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">`,
    `<title id="t">${escapeXml(stripVTControlCharacters(title))}</title>`,
    '<style>.a{animation:show 1ms both}@keyframes show{from{opacity:0}}@media(prefers-reduced-motion:reduce){.a{animation:none}}</style>',
    `<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${FONT_SIZE}" fill="${INK}" xml:space="preserve">`,
    textLine(0, prompt, 0),
    ...shown,
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

function textLine(index: number, content: string, afterSeconds: number): string {
  const y = MARGIN + FONT_SIZE + index * LINE_HEIGHT;
  const delay =
    afterSeconds === 0 ? '' : ` class="a" style="animation-delay:${afterSeconds.toFixed(2)}s"`;
  return `<text x="${MARGIN}" y="${y}"${delay}>${content}</text>`;
}

/** Text between escape sequences, each with the style that holds there. */
function spans(line: string): string {
  let colour: string | undefined;
  let bold = false;
  let dim = false;
  return line
    .split(STYLES)
    .map((part) => {
      const codes = STYLE.exec(part)?.[1];
      if (codes === undefined) return span(part, { colour: dim ? DIM : colour, bold });
      for (const code of codes.split(';')) {
        if (code === '' || code === '0') [colour, bold, dim] = [undefined, false, false];
        else if (code === '1') bold = true;
        else if (code === '2') dim = true;
        else if (code === '22') [bold, dim] = [false, false];
        else if (code === '39') colour = undefined;
        else colour = COLOURS[code] ?? colour;
      }
      return '';
    })
    .join('');
}

function span(text: string, style: { colour: string | undefined; bold: boolean }): string {
  if (text === '') return '';
  if (style.colour === undefined && !style.bold) return escapeXml(text);
  const fill = style.colour === undefined ? '' : ` fill="${style.colour}"`;
  const weight = style.bold ? ' font-weight="bold"' : '';
  return `<tspan${fill}${weight}>${escapeXml(text)}</tspan>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
