import type { EndpointAnswer, ServicePortAnswer } from '../protocol/service-page.ts';
import { h, nameOf } from './dom.ts';
import { ABSENT, count, exactRate, percent, rate } from './figures.ts';

const STATE_TONES = {
  ready: 'good',
  terminating: 'warn',
  'not ready': 'bad',
  gone: 'bad',
} as const;

const UNKNOWN_OPEN = 'this mode cannot know, or it was not counted yet';

/** Endpoints of a port: what each gets, and why one gets nothing. */
export function endpointTable(
  { endpoints, endpointCount }: ServicePortAnswer,
  { most, isNarrow = false }: { readonly most: number; readonly isNarrow?: boolean },
): HTMLElement {
  if (endpointCount === 0) return h('p', { class: 'empty' }, 'No slice has an endpoint for it.');
  const shown = endpoints.slice(0, most);
  const left = endpointCount - shown.length;
  const words = isNarrow ? ['endpoint'] : ['endpoint', 'node', 'state'];
  const numbers = isNarrow ? ['new/s', 'share'] : ['new/s', 'open', 'share'];
  const heads = [
    ...words.map((text) => h('th', {}, text)),
    ...numbers.map((text) => h('th', { class: 'r' }, text)),
  ];
  const table = h(
    'table',
    { class: isNarrow ? '' : 'cards', data: { endpoints: endpointCount } },
    h('thead', {}, h('tr', {}, ...heads)),
    h('tbody', {}, ...shown.map(isNarrow ? narrowRow : wideRow)),
  );
  const more = left > 0 ? h('p', { class: 'sub' }, `and ${count(left)} more`) : undefined;
  return h('div', {}, table, more);
}

function narrowRow(each: EndpointAnswer): HTMLElement {
  const { endpoint, state } = each;
  const tag = state === 'ready' ? undefined : stateTag(each);
  return h(
    'tr',
    { data: { endpoint, state } },
    h(
      'td',
      {},
      addressOf(each),
      h('div', { class: 'sub' }, tag, ' ', whereOf(each)),
      reasonOf(each),
    ),
    newCell(each),
    shareCell(each),
  );
}

function wideRow(each: EndpointAnswer): HTMLElement {
  const { endpoint, state, live } = each;
  const why = live === undefined ? UNKNOWN_OPEN : undefined;
  return h(
    'tr',
    { data: { endpoint, state } },
    h('td', {}, addressOf(each), reasonOf(each)),
    h('td', { class: 'ink2', data: { label: 'node' } }, whereOf(each)),
    h('td', {}, stateTag(each)),
    newCell(each),
    h('td', { class: 'r', data: { label: 'open' }, title: why }, count(live)),
    shareCell(each),
  );
}

function addressOf({ endpoint }: EndpointAnswer): HTMLElement {
  return h('span', { class: 'mono' }, nameOf(endpoint));
}

function stateTag({ state }: EndpointAnswer): HTMLElement {
  return h('span', { class: `tag ${STATE_TONES[state]}` }, state);
}

function reasonOf({ because }: EndpointAnswer): HTMLElement | undefined {
  if (because === undefined) return undefined;
  return h('p', { data: { because } }, `gets nothing: ${because}`);
}

function whereOf({ isHere, nodeName }: EndpointAnswer): HTMLElement {
  if (isHere) return h('span', {}, 'this node');
  if (nodeName !== '') return nameOf(nodeName);
  return h('span', { class: 'dim', title: 'its slice names no node' }, ABSENT);
}

function newCell({ newPerSecond, connections }: EndpointAnswer): HTMLElement {
  const title = `${exactRate(newPerSecond)}; ${count(connections)} since it was written to the kernel`;
  const figure = rate(newPerSecond).replace('/s', '');
  return h('td', { class: 'r', data: { label: 'new/s' }, title }, figure);
}

function shareCell({ share }: EndpointAnswer): HTMLElement {
  const bar = h('i', {});
  bar.style.width = `${Math.round((share ?? 0) * 100)}%`;
  const track = h('span', { class: 'bar', at: { 'aria-hidden': 'true' } }, bar);
  return h('td', { class: 'r' }, h('span', { class: 'share' }, percent(share), track));
}
