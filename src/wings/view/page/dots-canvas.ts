import type { DotState } from '../protocol/dots-answer.ts';
import type { DotField } from './dot-field.ts';
import { drawDot, type Palette, paletteOf } from './dot-shape.ts';
import { layDots } from './dots-layout.ts';
import type { DotsLayout } from './dots-places.ts';

/** Two namespaces may be as far apart as a long name is wide. */
const MOST_GAP_CELLS = 12;

/** Every Service as one dot. One that changes is drawn alone. */
export class DotsCanvas {
  readonly element: HTMLCanvasElement;
  readonly #field: DotField;
  #layout: DotsLayout | undefined;
  #palette: Palette | undefined;
  /** Counts for tests: how many dots were drawn. */
  #drawn = 0;

  constructor(field: DotField) {
    this.element = document.createElement('canvas');
    this.element.tabIndex = 0;
    this.element.setAttribute('role', 'img');
    this.#field = field;
  }

  get layout(): DotsLayout | undefined {
    return this.#layout;
  }

  /** Lays out and draws all dots: when they were fetched, and when the size or the theme changes. */
  drawAll(): void {
    const width = this.element.parentElement?.clientWidth ?? 0;
    if (width === 0) return;
    const height = width < 600 ? 480 : 290;
    const layout = layDots(this.#field, { width, height });
    this.#layout = layout;
    this.#palette = paletteOf(this.element.parentElement ?? document.body);
    const canvas = this.#sized(width, layout.height);
    if (canvas === undefined) return;
    this.#drawLabels(canvas, layout);
    for (const state of ['q', 'u', 'b', 'w', 'l', 'n'] as const) this.#drawState(canvas, state);
    this.#count(this.#field.size);
  }

  draw(index: number): void {
    const canvas = this.element.getContext('2d');
    const layout = this.#layout;
    if (canvas === null || layout === undefined) return;
    const [x, y] = [layout.x[index] ?? 0, layout.y[index] ?? 0];
    canvas.clearRect(x, y, layout.cell, layout.cell);
    this.#setColour(canvas, this.#field.stateOf(index));
    drawDot(canvas, this.#field.stateOf(index), { x, y, cell: layout.cell });
    this.#count(1);
  }

  /** The next dot from one in a direction; undefined: there is none. */
  neighbourOf(
    index: number,
    { right, down }: { readonly right: number; readonly down: number },
  ): number | undefined {
    const layout = this.#layout;
    if (layout === undefined) return undefined;
    const { cell } = layout;
    const middle = cell / 2;
    const [x, y] = [(layout.x[index] ?? 0) + middle, (layout.y[index] ?? 0) + middle];
    for (let step = 1; step <= MOST_GAP_CELLS; step += 0.5) {
      const found = this.indexAt(x + right * step * cell, y + down * step * cell);
      if (found !== undefined && found !== index) return found;
    }
    return undefined;
  }

  /** The dot at a pixel, with the gap beside it. */
  indexAt(x: number, y: number): number | undefined {
    const layout = this.#layout;
    if (layout === undefined) return undefined;
    const { cell } = layout;
    for (let index = 0; index < layout.x.length; index += 1) {
      const [left, top] = [layout.x[index] ?? 0, layout.y[index] ?? 0];
      if (x >= left && x < left + cell && y >= top && y < top + cell) return index;
    }
    return undefined;
  }

  #sized(width: number, height: number): CanvasRenderingContext2D | undefined {
    const scale = window.devicePixelRatio || 1;
    this.element.width = Math.round(width * scale);
    this.element.height = Math.round(height * scale);
    this.element.style.height = `${height}px`;
    const canvas = this.element.getContext('2d');
    canvas?.scale(scale, scale);
    return canvas ?? undefined;
  }

  #drawState(canvas: CanvasRenderingContext2D, state: DotState): void {
    const layout = this.#layout;
    if (layout === undefined) return;
    this.#setColour(canvas, state);
    for (let index = 0; index < this.#field.size; index += 1) {
      if (this.#field.stateOf(index) !== state) continue;
      drawDot(canvas, state, {
        x: layout.x[index] ?? 0,
        y: layout.y[index] ?? 0,
        cell: layout.cell,
      });
    }
  }

  #drawLabels(canvas: CanvasRenderingContext2D, { labels }: DotsLayout): void {
    const style = getComputedStyle(this.element);
    canvas.font = `11px ${style.fontFamily}`;
    canvas.fillStyle = style.color;
    canvas.globalAlpha = 0.75;
    for (const { namespace, x, y, room } of labels) {
      canvas.fillText(fitted(canvas, namespace, room), x, y);
    }
    canvas.globalAlpha = 1;
  }

  #setColour(canvas: CanvasRenderingContext2D, state: DotState): void {
    const colour = this.#palette?.[state] ?? '';
    canvas.fillStyle = colour;
    canvas.strokeStyle = colour;
  }

  #count(dots: number): void {
    this.#drawn += dots;
    this.element.dataset['drawn'] = String(this.#drawn);
    this.element.dataset['shown'] = String(this.#field.size);
  }
}

function fitted(canvas: CanvasRenderingContext2D, text: string, room: number): string {
  let shown = text.slice(0, 60);
  while (shown.length > 1 && canvas.measureText(shown).width > room)
    shown = `${shown.slice(0, -2)}…`;
  return shown;
}
