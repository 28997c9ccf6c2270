import type { DotState } from '../protocol/dots-answer.ts';

export type Palette = Readonly<Record<DotState, string>>;

const VARIABLES: Palette = {
  q: '--dot-quiet',
  u: '--dot-used',
  b: '--dot-busy',
  w: '--outside',
  l: '--warn',
  n: '--bad',
};
/** From here on a dot has room for a shape of its own. */
const SHAPED_CELL = 5;

/** The colours of the theme, as a canvas takes them. */
export function paletteOf(near: HTMLElement): Palette {
  const probe = document.createElement('span');
  probe.hidden = true;
  near.append(probe);
  const entries = Object.entries(VARIABLES).map(([state, name]) => {
    probe.style.color = `var(${name})`;
    return [state, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Palette;
}

export interface DotPlace {
  readonly x: number;
  readonly y: number;
  readonly cell: number;
}

/** What needs attention differs by its shape, and where there is no room for shapes by its size. */
export function drawDot(
  canvas: CanvasRenderingContext2D,
  state: DotState,
  { x, y, cell }: DotPlace,
): void {
  const isTrouble = state === 'n' || state === 'l' || state === 'w';
  if (cell < SHAPED_CELL) {
    const side = isTrouble ? cell : cell * (state === 'q' ? 0.7 : 0.8);
    canvas.fillRect(x, y, side, side);
    return;
  }
  const side = cell * 0.8;
  if (state === 'n') cross(canvas, { x, y, side });
  else if (state === 'l') ring(canvas, { x, y, side });
  else if (state === 'w') triangle(canvas, { x, y, side });
  else if (state === 'q') canvas.fillRect(x + side * 0.15, y + side * 0.15, side * 0.7, side * 0.7);
  else canvas.fillRect(x, y, side, side);
}

interface Square {
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

function cross(canvas: CanvasRenderingContext2D, { x, y, side }: Square): void {
  const width = side * 0.3;
  canvas.lineWidth = width;
  const inset = width / 2;
  canvas.beginPath();
  canvas.moveTo(x + inset, y + inset);
  canvas.lineTo(x + side - inset, y + side - inset);
  canvas.moveTo(x + side - inset, y + inset);
  canvas.lineTo(x + inset, y + side - inset);
  canvas.stroke();
}

function ring(canvas: CanvasRenderingContext2D, { x, y, side }: Square): void {
  canvas.lineWidth = side * 0.24;
  canvas.beginPath();
  canvas.arc(x + side / 2, y + side / 2, side * 0.38, 0, Math.PI * 2);
  canvas.stroke();
}

function triangle(canvas: CanvasRenderingContext2D, { x, y, side }: Square): void {
  canvas.beginPath();
  canvas.moveTo(x + side / 2, y);
  canvas.lineTo(x + side, y + side);
  canvas.lineTo(x, y + side);
  canvas.fill();
}
