import { fillFor, h, nameOf, onWidth, replace, setAttribute, setText } from './dom.ts';
import { DOT_STATES, wordOf } from './dot-field.ts';
import { drawDot, paletteOf } from './dot-shape.ts';
import { DotsCanvas } from './dots-canvas.ts';
import { count, counted } from './figures.ts';
import type { ScreenContext } from './page-screens.ts';
import { routeTo } from './route.ts';
import type { Store } from './store.ts';

const MOST_NAMED = 5;
const DIRECTIONS: Readonly<Record<string, { readonly right: number; readonly down: number }>> = {
  ArrowDown: { right: 0, down: 1 },
  ArrowUp: { right: 0, down: -1 },
  ArrowRight: { right: 1, down: 0 },
  ArrowLeft: { right: -1, down: 0 },
};

/** Every Service as one dot, with a legend, a tooltip and keys. */
export function dotsPanel({ store, go, signal }: ScreenContext): HTMLElement {
  const { dots } = store;
  const canvas = new DotsCanvas(dots);
  const tip = h('div', { class: 'dots-tip', at: { role: 'status' } });
  const cursor = h('div', { class: 'dots-cursor' });
  tip.hidden = true;
  cursor.hidden = true;
  const place = h('div', { class: 'dots' }, canvas.element, cursor, tip);
  const total = h('small', {});
  const legend = legendOf();
  const attention = h('div', { class: 'attention', data: { fact: 'attention' } });
  const panel = h(
    'section',
    { class: 'panel', at: { 'aria-label': 'every Service' } },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, 'Every Service', total),
      h('div', { class: 'legend end' }, ...legend.map(({ element }) => element)),
    ),
    place,
    attention,
  );
  const summarise = (): void => {
    setText(total, `${count(dots.size)}, one dot each, by namespace`);
    for (const each of legend) each.update(store);
    fillAttention(attention, store);
    setAttribute(canvas.element, 'aria-label', summaryOf(store));
  };
  dots.onChange((index) => {
    if (index === 'all') canvas.drawAll();
    else canvas.draw(index);
  }, signal);
  store.listen(summarise, signal);
  const redraw = (): void => {
    canvas.drawAll();
    for (const each of legend) each.draw();
    summarise();
  };
  onWidth(place, redraw, signal);
  document.addEventListener('themechange', redraw, { signal });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw, { signal });
  pointAt({ canvas, tip, cursor, store, go });
  return panel;
}

interface Pointing extends Pick<ScreenContext, 'store' | 'go'> {
  readonly canvas: DotsCanvas;
  readonly tip: HTMLElement;
  readonly cursor: HTMLElement;
}

function pointAt({ canvas, tip, cursor, store: { dots }, go }: Pointing): void {
  let at: number | undefined;
  const show = (index: number | undefined): void => {
    at = index;
    tip.hidden = index === undefined;
    cursor.hidden = index === undefined;
    const { layout } = canvas;
    if (index === undefined || layout === undefined) return;
    replace(tip, nameOf(dots.nameOf(index), 'name'), ` · ${wordOf(dots.stateOf(index))}`);
    const [x, y] = [layout.x[index] ?? 0, layout.y[index] ?? 0];
    const width = canvas.element.clientWidth;
    tip.style.left = `${Math.max(0, Math.min(x, width - tip.offsetWidth))}px`;
    tip.style.top = `${y + layout.cell + 6}px`;
    cursor.style.left = `${x - 2}px`;
    cursor.style.top = `${y - 2}px`;
    cursor.style.width = cursor.style.height = `${layout.cell + 3}px`;
  };
  const open = (): void => {
    if (at !== undefined) go(routeTo('map', { service: dots.nameOf(at) }));
  };
  canvas.element.addEventListener('pointermove', ({ offsetX, offsetY }) =>
    show(canvas.indexAt(offsetX, offsetY)),
  );
  canvas.element.addEventListener('pointerleave', () => show(undefined));
  canvas.element.addEventListener('blur', () => show(undefined));
  canvas.element.addEventListener('click', ({ offsetX, offsetY }) => {
    show(canvas.indexAt(offsetX, offsetY));
    open();
  });
  canvas.element.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') open();
    const direction = DIRECTIONS[event.key];
    if (direction === undefined || dots.size === 0) return;
    event.preventDefault();
    const first = canvas.layout?.order[0];
    show(at === undefined ? first : (canvas.neighbourOf(at, direction) ?? at));
  });
}

function legendOf(): { readonly element: HTMLElement; update(store: Store): void; draw(): void }[] {
  return DOT_STATES.map(({ state, word, means }) => {
    const figure = h('b', { data: { state } });
    const swatch = h('canvas', { at: { width: 24, height: 24, 'aria-hidden': 'true' } });
    const element = h(
      'a',
      { href: routeTo('services', { state }), title: means },
      swatch,
      `${word} `,
      figure,
    );
    const draw = (): void => {
      const canvas = swatch.getContext('2d');
      if (canvas === null) return;
      canvas.clearRect(0, 0, 24, 24);
      const colour = paletteOf(element)[state];
      canvas.fillStyle = canvas.strokeStyle = colour;
      drawDot(canvas, state, { x: 1, y: 1, cell: 27 });
    };
    const update = ({ dots }: Store): void => setText(figure, count(dots.countOf(state)));
    return { element, update, draw };
  });
}

/** Those without an endpoint, by name: a dot among thousands is easily missed. */
function fillAttention(place: HTMLElement, { dots }: Store): void {
  const parts = (['n', 'l', 'w'] as const).map((state) => ({
    state,
    found: dots.countOf(state) === 0 ? [] : dots.list(state, MOST_NAMED),
  }));
  const key = JSON.stringify(parts.map(({ state, found }) => [found, dots.countOf(state)]));
  const lines = () =>
    parts
      .filter(({ found }) => found.length > 0)
      .map(({ state, found }) => {
        const names = found.flatMap((index, at) => [
          at === 0 ? '' : ', ',
          h(
            'a',
            { class: 'link', href: routeTo('map', { service: dots.nameOf(index) }) },
            nameOf(dots.nameOf(index)),
          ),
        ]);
        const more = dots.countOf(state) - found.length;
        return h(
          'div',
          {},
          `${wordOf(state)}: `,
          ...names,
          more > 0 ? ` and ${count(more)} more` : '',
        );
      });
  fillFor(place, key, lines);
}

function summaryOf({ dots }: Store): string {
  const parts = DOT_STATES.map(({ state, word }) => `${count(dots.countOf(state))} ${word}`);
  return `${counted(dots.size, 'Service')}: ${parts.join(', ')}. Arrow keys move, Enter opens.`;
}
