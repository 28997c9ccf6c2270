import type { ServiceAnswer } from '../protocol/service-page.ts';
import type { Answered } from './ask-server.ts';
import { barsOf } from './bars.ts';
import { ChangeList } from './change-list.ts';
import { fillFor, h, onWidth, refresh, replace, setText } from './dom.ts';
import { dotsPanel } from './dots-panel.ts';
import type { ScreenContext } from './page-screens.ts';
import { type Traffic, trafficOf } from './page-traffic.ts';
import { problemBox } from './problem-box.ts';
import { ropesOf } from './ropes.ts';
import { routeTo } from './route.ts';
import { servicePanel } from './service-panel.ts';
import { pollService } from './service-poll.ts';
import type { Store } from './store.ts';
import { tilesOf } from './tiles.ts';

/** Below this width the three columns are stacked. */
const LEAST_ROPES_WIDTH = 720;
const SHOWN_CHANGES = 6;

/** Who asks, which Service, where it ends, now; and what changed. */
export function openMap(context: ScreenContext): HTMLElement {
  const { store, signal } = context;
  const tiles = tilesOf(store);
  const traffic = trafficPanel(context);
  const changes = new ChangeList();
  const selected = h('section', { class: 'panel', at: { 'aria-label': 'selected Service' } });
  const changed = h(
    'section',
    { class: 'panel' },
    h(
      'h2',
      {},
      'What changed, and why ',
      h('small', {}, h('a', { class: 'link', href: routeTo('changes') }, 'all ›')),
    ),
    changes.element,
  );
  const element = h(
    'div',
    { class: 'stack' },
    tiles.element,
    h(
      'div',
      { class: 'map-main' },
      h('div', { class: 'stack' }, traffic.element, dotsPanel(context)),
      h('div', { class: 'stack' }, selected, changed),
    ),
  );
  const select = selection(context, selected);
  const update = (): void => {
    tiles.update();
    const service = select();
    traffic.update(service);
    changes.update(store.changes.slice(0, SHOWN_CHANGES));
  };
  store.listen(update, signal);
  queueMicrotask(update);
  return element;
}

function trafficPanel({ store, signal }: ScreenContext): {
  readonly element: HTMLElement;
  update(selected: string | undefined): void;
} {
  const ropes = ropesOf();
  const bars = barsOf();
  const order = new StableOrder();
  const waiting = h('p', { class: 'empty' }, 'Waiting for the first figures …');
  const notes = h('ul', { class: 'notes', data: { fact: 'notes' } });
  const place = h('div', {}, waiting);
  const element = h(
    'section',
    { class: 'panel', at: { 'aria-label': 'connections through this node' } },
    h(
      'h2',
      {},
      'Connections through this node, now ',
      h('small', {}, 'new connections a second; thickness is the square root'),
    ),
    place,
    notes,
  );
  let selected: string | undefined;
  const draw = (): void => {
    const { tick } = store;
    if (tick === undefined) return;
    const traffic = inOrder(trafficOf(tick.map), order);
    const isEmpty = traffic.services.length === 0;
    const shown = isEmpty
      ? waiting
      : place.clientWidth < LEAST_ROPES_WIDTH
        ? bars.element
        : ropes.element;
    if (isEmpty) setText(waiting, 'No connection to a Service now.');
    if (place.firstChild !== shown) replace(place, shown);
    if (shown === bars.element) bars.update(traffic);
    else if (shown === ropes.element) ropes.update(traffic, selected);
    fillNotes(notes, store);
  };
  onWidth(place, draw, signal);
  const update = (service: string | undefined): void => {
    selected = service;
    draw();
  };
  return { element, update };
}

/** All others stay below the busiest. */
function inOrder(traffic: Traffic, order: StableOrder): Traffic {
  const named = traffic.services.filter(({ id }) => id !== 'others');
  const others = traffic.services.filter(({ id }) => id === 'others');
  return { ...traffic, services: [...order.order(named, performance.now()), ...others] };
}

const CLASS_WORDS = {
  pod: 'pods of this node',
  host: 'this node itself',
  outside: 'clients outside',
} as const;

/** What this mode cannot know is said, and not drawn. */
function fillNotes(place: HTMLElement, { tick, about }: Store): void {
  const unseen = (about?.unseenSources ?? []).map(
    (each) =>
      `Connections of ${CLASS_WORDS[each]} leave no conntrack entry in mode ${about?.mode}: they are not among those who ask.`,
  );
  const all = [...unseen, ...(tick?.notes ?? [])];
  fillFor(place, all.join('\n'), () => all.map((note) => h('li', {}, note)));
}

/** Follows the Service of the route, or else the busiest at first. Gives its name. */
function selection(
  { route, store, signal }: ScreenContext,
  place: HTMLElement,
): () => string | undefined {
  let chosen: string | undefined;
  const take = (answer: Answered<ServiceAnswer>): void => {
    refresh(
      place,
      answer.is === 'answer' ? servicePanel(answer.value) : problemBox(answer.problem),
    );
  };
  replace(place, h('p', { class: 'empty' }, 'Select a Service in the map, or a dot below.'));
  return () => {
    const wanted = route.params['service'] ?? chosen ?? busiest(store);
    if (wanted !== undefined && wanted !== chosen) {
      chosen = wanted;
      void pollService(wanted, take, signal);
    }
    return chosen;
  };
}

function busiest({ tick }: Store): string | undefined {
  const services = tick === undefined ? [] : trafficOf(tick.map).services;
  return services.find(({ service }) => service !== undefined)?.service;
}

/** How long rows keep their places while they are the same ones. */
const HOLD_MS = 8000;

/** Keeps rows in their places for some seconds, so that they can be read and clicked. */
class StableOrder {
  #ids: readonly string[] = [];
  #since = Number.NEGATIVE_INFINITY;

  order<T extends { readonly id: string }>(items: readonly T[], nowMs: number): readonly T[] {
    const byId = new Map(items.map((item) => [item.id, item]));
    const isSame = byId.size === this.#ids.length && this.#ids.every((id) => byId.has(id));
    if (!isSame || nowMs - this.#since > HOLD_MS) {
      this.#ids = items.map(({ id }) => id);
      this.#since = nowMs;
      return items;
    }
    return this.#ids.flatMap((id) => byId.get(id) ?? []);
  }
}
