import { h, nameOf, s, setAttribute, setText } from './dom.ts';
import { exactRate, rate } from './figures.ts';
import { KeyedList } from './keyed.ts';
import type { Column, ServiceColumn, Traffic } from './page-traffic.ts';
import { type Box, layRopes, type Ribbon, type RopesLayout } from './ropes-layout.ts';
import { routeTo } from './route.ts';

/** Who asks, which Service, where it ends: for wide screens. */
export interface Ropes {
  readonly element: HTMLElement;
  update(traffic: Traffic, selected: string | undefined): void;
}

interface Drawn {
  readonly layout: RopesLayout;
  readonly kinds: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly selected: string | undefined;
}

export function ropesOf(): Ropes {
  let drawn: Drawn | undefined;
  const now = (): Drawn => {
    if (drawn === undefined) throw new Error('nothing was laid out yet');
    return drawn;
  };
  const ribbons = s('g', {});
  const bars = s('g', {});
  const svg = s(
    'svg',
    { class: 'ropes-svg', at: { 'aria-hidden': 'true' } },
    ropeDefinitions(),
    ribbons,
    bars,
  );
  const boxes = h('div', { data: { list: 'busiest' } });
  const labels = h('div', {});
  const heads = ['who asks', 'Services, the ten busiest and all others', 'where it ends'].map(
    (text) => h('div', { class: 'rope-head' }, text),
  );
  const element = h('div', { class: 'ropes' }, svg, ...heads, labels, boxes);
  const ribbonList = new KeyedList<Ribbon>(ribbons, {
    key: ({ id }) => id,
    create: () => ribbonRow(now),
  });
  const barList = new KeyedList<Box<Column> & { x: number }>(bars, {
    key: ({ item }) => item.id,
    create: ({ item }) => barRow(item.kind),
  });
  const labelList = new KeyedList<Box<Column> & { x: number; isLeft: boolean }>(labels, {
    key: ({ item }) => item.id,
    create: () => labelRow(),
  });
  const boxList = new KeyedList<Box<ServiceColumn>>(boxes, {
    key: ({ item }) => item.id,
    create: ({ item }) => boxRow(item, now),
  });
  const update = (traffic: Traffic, selected: string | undefined): void => {
    const width = element.clientWidth;
    if (width === 0) return;
    const height = heightFor(traffic);
    element.style.height = `${height}px`;
    const layout = layRopes(traffic, { width, height });
    const columns = [...traffic.sources, ...traffic.ends];
    drawn = {
      layout,
      kinds: new Map(columns.map(({ id, kind }) => [id, kind])),
      labels: new Map(columns.map(({ id, label }) => [id, label])),
      selected,
    };
    placeHeads(heads, layout);
    ribbonList.update(layout.ribbons);
    const left = layout.sources.map((box) => ({ ...box, x: layout.x.from, isLeft: true }));
    const right = layout.ends.map((box) => ({ ...box, x: layout.x.to, isLeft: false }));
    barList.update([...left, ...right]);
    labelList.update([...left, ...right]);
    boxList.update(layout.services);
  };
  return { element, update };
}

function heightFor({ services, ends, sources }: Traffic): number {
  const rows = Math.max(services.length * 46, ends.length * 74, sources.length * 90);
  return Math.min(600, Math.max(220, rows + 40));
}

function placeHeads(heads: readonly HTMLElement[], { x, sources }: RopesLayout): void {
  const [from, middle, to] = heads;
  if (!from || !middle || !to) return;
  from.hidden = sources.length === 0;
  place(from, { left: 0, width: x.from });
  place(middle, { left: x.mid0 - 40, width: x.mid1 - x.mid0 + 80 });
  place(to, { left: x.to + 14, width: 170 });
}

function ribbonRow(now: () => Drawn): { readonly element: Element; update(ribbon: Ribbon): void } {
  const title = s('title', {});
  const element = s('path', {}, title);
  const update = (ribbon: Ribbon): void => {
    const { kinds, labels, selected, layout } = now();
    const { x0, y0, x1, y1, thickness, side, other } = ribbon;
    const middle = (x0 + x1) / 2;
    const box = layout.services.find(({ item }) => item.id === ribbon.service)?.item;
    const isSelected = selected !== undefined && box?.service === selected;
    const kind = kinds.get(other) ?? 'unplaced';
    setAttribute(
      element,
      'd',
      `M${n(x0)} ${n(y0)}C${n(middle)} ${n(y0)} ${n(middle)} ${n(y1)} ${n(x1)} ${n(y1)}L${n(x1)} ${n(y1 + thickness)}C${n(middle)} ${n(y1 + thickness)} ${n(middle)} ${n(y0 + thickness)} ${n(x0)} ${n(y0 + thickness)}Z`,
    );
    setAttribute(element, 'fill', `url(#rope-${kind}${isSelected ? '-selected' : ''})`);
    setAttribute(element, 'class', `ribbon ${kind}${isSelected ? ' is-selected' : ''}`);
    setText(
      title,
      `${box?.label ?? ''} ${side === 'from' ? 'from' : 'to'} ${labels.get(other) ?? other}: ${exactRate(ribbon.perSecond)}`,
    );
  };
  return { element, update };
}

function barRow(kind: string): {
  readonly element: Element;
  update(box: Box<Column> & { x: number }): void;
} {
  const element = s('rect', { class: `rope-bar ${kind}`, at: { width: 6, rx: 2 } });
  const update = ({ x, y, height }: Box<Column> & { x: number }): void => {
    setAttribute(element, 'x', n(x));
    setAttribute(element, 'y', n(y));
    setAttribute(element, 'height', n(Math.max(3, height)));
  };
  return { element, update };
}

function labelRow(): {
  readonly element: Element;
  update(box: Box<Column> & { x: number; isLeft: boolean }): void;
} {
  const name = h('b', {});
  const figure = h('span', {});
  const note = h('small', {});
  const element = h('div', { class: 'rope-label' }, h('div', {}, name, figure), note);
  const update = ({
    item,
    x,
    y,
    height,
    isLeft,
  }: Box<Column> & { x: number; isLeft: boolean }): void => {
    setText(name, item.label);
    setText(figure, rate(item.perSecond));
    setText(note, item.note);
    setAttribute(element, 'title', `${item.label}: ${exactRate(item.perSecond)} ${item.note}`);
    setAttribute(element, 'class', `rope-label ${isLeft ? 'is-left' : ''} ${item.kind}`);
    setAttribute(element, 'data-end', item.id);
    setAttribute(element, 'data-rate', item.perSecond ?? '');
    place(element, isLeft ? { left: 0, width: x - 10 } : { left: x + 14, width: 172 });
    element.style.top = `${y + height / 2}px`;
  };
  return { element, update };
}

function boxRow(
  first: ServiceColumn,
  now: () => Drawn,
): { readonly element: Element; update(box: Box<ServiceColumn>): void } {
  const figure = h('span', { class: 'figure' });
  const label = nameOf(first.label, 'label');
  const { service } = first;
  const element =
    service === undefined
      ? h(
          'a',
          { class: 'rope-box others', href: routeTo('services'), data: { item: '' } },
          label,
          figure,
        )
      : h(
          'a',
          { class: 'rope-box', href: routeTo('map', { service }), data: { item: '', service } },
          label,
          figure,
        );
  const update = ({ item, y, height }: Box<ServiceColumn>): void => {
    const { layout, selected } = now();
    const isSelected = item.service !== undefined && item.service === selected;
    setText(label, item.label);
    setText(figure, rate(item.perSecond));
    setAttribute(element, 'title', `${item.label}: ${exactRate(item.perSecond)}`);
    setAttribute(element, 'data-rate', item.perSecond ?? '');
    element.classList.toggle('is-selected', isSelected);
    element.classList.toggle('is-rejected', item.isRejected);
    if (isSelected) element.setAttribute('aria-current', 'true');
    else element.removeAttribute('aria-current');
    place(element, { left: layout.x.mid0, width: layout.x.mid1 - layout.x.mid0 });
    element.style.top = `${n(y)}px`;
    element.style.height = `${n(height)}px`;
  };
  return { element, update };
}

function place(
  element: HTMLElement,
  { left, width }: { readonly left: number; readonly width: number },
): void {
  element.style.left = `${n(left)}px`;
  element.style.width = `${n(width)}px`;
}

function n(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Kinds by the side of the Services that they are on. */
const LEFT = ['pod', 'host', 'outside', 'unknown'];
const RIGHT = ['here', 'node', 'others', 'unplaced'];

/** Gradients, and patterns for what is rejected and dropped: told apart without colours too. */
function ropeDefinitions(): SVGElement {
  const gradients = ['', '-selected'].flatMap((variant) => [
    ...LEFT.map((kind) => gradient(`${kind}${variant}`, [kind, `mid${variant}`])),
    ...RIGHT.map((kind) => gradient(`${kind}${variant}`, [`mid${variant}`, kind])),
    hatch(`rejected${variant}`, 'rejected'),
    dotted(`dropped${variant}`, 'dropped'),
  ]);
  return s('defs', {}, ...gradients);
}

function gradient(id: string, [from, to]: readonly [string, string]): SVGElement {
  return s(
    'linearGradient',
    { at: { id: `rope-${id}`, x1: 0, x2: 1 } },
    s('stop', { class: `stop-${from}`, at: { offset: 0 } }),
    s('stop', { class: `stop-${to}`, at: { offset: 1 } }),
  );
}

function hatch(id: string, kind: string): SVGElement {
  return s(
    'pattern',
    {
      at: {
        id: `rope-${id}`,
        width: 7,
        height: 7,
        patternUnits: 'userSpaceOnUse',
        patternTransform: 'rotate(45)',
      },
    },
    s('rect', { class: `rope-fill ${kind}`, at: { width: 7, height: 7 } }),
    s('rect', { class: `rope-mark ${kind}`, at: { width: 2.5, height: 7 } }),
  );
}

function dotted(id: string, kind: string): SVGElement {
  return s(
    'pattern',
    { at: { id: `rope-${id}`, width: 6, height: 6, patternUnits: 'userSpaceOnUse' } },
    s('rect', { class: `rope-fill ${kind}`, at: { width: 6, height: 6 } }),
    s('circle', { class: `rope-mark ${kind}`, at: { cx: 3, cy: 3, r: 1.4 } }),
  );
}
