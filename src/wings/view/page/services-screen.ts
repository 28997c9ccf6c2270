import type { DotState, SearchAnswer } from '../protocol/dots-answer.ts';
import { ask } from './ask-server.ts';
import { h, nameOf, replace, setText } from './dom.ts';
import { DOT_STATES, wordOf } from './dot-field.ts';
import { count, counted } from './figures.ts';
import type { ScreenContext } from './page-screens.ts';
import { problemBox } from './problem-box.ts';
import { routeTo } from './route.ts';
import type { Store } from './store.ts';

const MOST_LISTED = 100;
/** So long after the last key the server is asked. */
const TYPING_MS = 80;

const STATE_TONES: Readonly<Record<DotState, string>> = {
  q: '',
  u: 'flow',
  b: 'flow',
  w: 'warn',
  l: 'warn',
  n: 'bad',
};
const STATE_MARKS: Readonly<Record<DotState, string>> = {
  q: '',
  u: '',
  b: '● ',
  w: '▲ ',
  l: '○ ',
  n: '✕ ',
};

interface Item {
  readonly service: string;
  readonly state: DotState;
  readonly by?: string;
}

/** Finds a Service by its name, an address or a node port; or lists those of one state. */
export function openServices(context: ScreenContext): HTMLElement {
  const { route, store, signal } = context;
  const query = (route.params['q'] ?? '').trim();
  const state = DOT_STATES.find((each) => each.state === route.params['state'])?.state;
  const title = h('h2', { class: 'big' }, 'Services');
  const list = h('ul', { class: 'list', data: { list: 'services' } });
  const found = h('div', { at: { 'aria-live': 'polite' }, class: 'sub', data: { fact: 'found' } });
  const element = h(
    'section',
    { class: 'panel' },
    h('div', { class: 'head' }, title, found),
    h('div', { class: 'legend' }, ...stateLinks(state, store)),
    list,
  );
  if (query !== '') void search({ query, list, found, signal });
  else listLocally({ context, state, list, found });
  return element;
}

function stateLinks(chosen: DotState | undefined, { dots }: Store): HTMLElement[] {
  const all = h(
    'a',
    {
      href: routeTo('services'),
      at: { 'aria-current': chosen === undefined ? 'true' : undefined },
    },
    'all ',
    h('b', {}, count(dots.size)),
  );
  const each = DOT_STATES.map(({ state, word, means }) =>
    h(
      'a',
      {
        href: routeTo('services', { state }),
        title: means,
        at: { 'aria-current': state === chosen ? 'true' : undefined },
      },
      `${STATE_MARKS[state]}${word} `,
      h('b', {}, count(dots.countOf(state))),
    ),
  );
  return [all, ...each];
}

interface Search {
  readonly query: string;
  readonly list: HTMLElement;
  readonly found: HTMLElement;
  readonly signal: AbortSignal;
}

async function search({ query, list, found, signal }: Search): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
  const answer = await ask<SearchAnswer>('/data/search', { q: query }, signal);
  if (answer === undefined || signal.aborted) return;
  if (answer.is === 'problem') return replace(list, problemBox(answer.problem));
  const { found: items, more } = answer.value;
  setText(
    found,
    `${counted(items.length + more, 'Service')} found for “${query}”${more > 0 ? `, the first ${items.length} shown` : ''}`,
  );
  show(list, items, `No Service has “${query}” in its name, addresses or node ports.`);
}

interface Listing {
  readonly context: ScreenContext;
  readonly state: DotState | undefined;
  readonly list: HTMLElement;
  readonly found: HTMLElement;
}

/** From the dots, which the page has. */
function listLocally({ context, state, list, found }: Listing): void {
  const { dots } = context.store;
  const fill = (): void => {
    const indices = dots.list(state, MOST_LISTED);
    const total = state === undefined ? dots.size : dots.countOf(state);
    const which = state === undefined ? '' : ` ${wordOf(state)}`;
    const rest =
      total > indices.length ? `, the first ${indices.length} by name; type to find others` : '';
    setText(found, `${counted(total, 'Service')}${which}${rest}`);
    show(
      list,
      indices.map((index) => ({ service: dots.nameOf(index), state: dots.stateOf(index) })),
      'None.',
    );
  };
  dots.onChange((index) => {
    if (index === 'all') fill();
  }, context.signal);
  fill();
}

function show(list: HTMLElement, items: readonly Item[], ifNone: string): void {
  if (items.length === 0) replace(list, h('li', { class: 'empty' }, ifNone));
  else replace(list, ...items.map(itemRow));
}

function itemRow({ service, state, by }: Item): HTMLElement {
  return h(
    'li',
    {},
    h(
      'a',
      {
        class: 'item',
        href: routeTo('service', { name: service }),
        data: { item: '', service, state },
      },
      nameOf(service, 'name'),
      h('span', { class: 'ink2' }, by === undefined ? '' : `has ${by}`),
      h('span', { class: `tag ${STATE_TONES[state]}` }, `${STATE_MARKS[state]}${wordOf(state)}`),
    ),
  );
}
