import { h, nameOf, setAttribute, setText } from './dom.ts';
import { exactRate, rate } from './figures.ts';
import { KeyedList } from './keyed.ts';
import type { Traffic } from './page-traffic.ts';
import { routeTo } from './route.ts';

interface BarItem {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly perSecond: number | undefined;
  /** From 0 to 1. */
  readonly part: number;
  readonly service: string | undefined;
}

/** The map for narrow screens: the same three columns, one below the other. */
export function barsOf(): { readonly element: HTMLElement; update(traffic: Traffic): void } {
  const parts = ['who asks', 'Services', 'where it ends'].map((title) => {
    const list = h('ul', { class: 'bars', data: { list: title } });
    const section = h('div', {}, h('div', { class: 'bars-head' }, title), list);
    return { section, rows: new KeyedList<BarItem>(list, { key: ({ id }) => id, create: barRow }) };
  });
  const element = h('div', {}, ...parts.map(({ section }) => section));
  const update = ({ sources, services, ends }: Traffic): void => {
    const [who, which, where] = parts;
    if (who) who.section.hidden = sources.length === 0;
    who?.rows.update(scaled(sources.map((each) => ({ ...each, service: undefined }))));
    which?.rows.update(
      scaled(
        services.map(({ id, label, perSecond, service, isRejected }) => ({
          id,
          label,
          perSecond,
          service,
          kind: isRejected ? 'rejected' : 'node',
        })),
      ),
    );
    where?.rows.update(scaled(ends.map((each) => ({ ...each, service: undefined }))));
  };
  return { element, update };
}

function scaled(items: readonly Omit<BarItem, 'part'>[]): BarItem[] {
  const most = Math.max(1e-9, ...items.map(({ perSecond = 0 }) => perSecond));
  return items.map((item) => ({ ...item, part: Math.sqrt((item.perSecond ?? 0) / most) }));
}

function barRow(first: BarItem): { readonly element: Element; update(item: BarItem): void } {
  const figure = h('span', { class: 'figure' });
  const fill = h('i', { class: first.kind });
  const { service } = first;
  const label =
    service === undefined
      ? nameOf(first.label, 'label')
      : h(
          'a',
          { class: 'label', href: routeTo('service', { name: service }), data: { item: '' } },
          nameOf(first.label),
        );
  const element = h('li', {}, label, figure, h('span', { class: 'track' }, fill));
  const update = ({ label: text, perSecond, part, kind }: BarItem): void => {
    setText(label.firstElementChild ?? label, text);
    setText(figure, rate(perSecond));
    setAttribute(figure, 'title', exactRate(perSecond));
    setAttribute(fill, 'class', kind);
    fill.style.width = `${Math.round(part * 100)}%`;
  };
  return { element, update };
}
