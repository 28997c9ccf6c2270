import type { SourceClassName } from '../protocol/common.ts';
import type {
  FrontendAnswer,
  OutcomeAnswer,
  ServiceAnswer,
  ServicePortAnswer,
} from '../protocol/service-page.ts';
import { ChangeList } from './change-list.ts';
import { h, nameOf, refresh, replace } from './dom.ts';
import { endpointTable } from './endpoint-table.ts';
import { duration } from './figures.ts';
import type { ScreenContext } from './page-screens.ts';
import { emptyPanel, problemBox } from './problem-box.ts';
import { routeTo, serviceOfPort } from './route.ts';
import { portFigures, portTitle } from './service-panel.ts';
import { pollService } from './service-poll.ts';
import type { Store } from './store.ts';

const MOST_ENDPOINTS = 300;
const CLASSES: readonly (readonly [name: SourceClassName, word: string])[] = [
  ['pod', 'from pods of this node'],
  ['host', 'from this node'],
  ['outside', 'from outside'],
];
const KINDS = {
  'cluster-ip': 'cluster IP',
  'external-ip': 'external IP',
  'load-balancer-ip': 'load balancer',
  'node-port': 'node port',
} as const;

/** One Service: frontends, endpoints, shares, and why an endpoint gets nothing. */
export function openService({ route, store, signal }: ScreenContext): HTMLElement {
  const name = route.params['name'] ?? busiest(store);
  const body = h('div', {});
  const changes = new ChangeList();
  const changed = h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'What changed, and why'),
    changes.element,
  );
  const element = h('div', { class: 'stack' }, body, changed);
  if (name === undefined) {
    replace(element, emptyPanel('No Service is selected. Press / to find one.'));
    return element;
  }
  replace(body, emptyPanel('Asking …'));
  void pollService(
    name,
    (answer) => {
      if (answer.is === 'problem') {
        refresh(body, problemBox(answer.problem));
        changed.hidden = true;
        return;
      }
      refresh(body, serviceBody(answer.value));
      changed.hidden = answer.value.changes.length === 0;
      changes.update(answer.value.changes);
    },
    signal,
  );
  return element;
}

function busiest({ tick, dots }: Store): string | undefined {
  const first = tick?.map.services[0]?.service;
  if (first !== undefined) return serviceOfPort(first);
  return dots.size > 0 ? dots.nameOf(0) : undefined;
}

function serviceBody({ service, ports }: ServiceAnswer): HTMLElement {
  return h(
    'div',
    { class: 'stack', data: { service } },
    h(
      'section',
      { class: 'panel head' },
      h('h1', {}, nameOf(service)),
      h(
        'div',
        { class: 'row end' },
        h('a', { class: 'button', href: routeTo('map', { service }) }, 'on the map'),
        h('a', { class: 'button', href: routeTo('changes', { service }) }, 'its changes'),
        h('a', { class: 'button main', href: routeTo('path', { target: service }) }, 'explain ›'),
      ),
    ),
    ...ports.map((port) => portSection(port)),
  );
}

function portSection(port: ServicePortAnswer): HTMLElement {
  const affinity =
    port.affinitySeconds > 0
      ? ` · a client stays with its endpoint for ${duration(port.affinitySeconds)}`
      : '';
  return h(
    'section',
    { class: 'panel stack', data: { port: port.name } },
    h('h2', { class: 'big' }, portTitle(port), h('small', {}, affinity)),
    h('div', { class: 'row' }, ...portFigures(port)),
    frontendTable(port.frontends),
    endpointTable(port, { most: MOST_ENDPOINTS }),
  );
}

function frontendTable(frontends: readonly FrontendAnswer[]): HTMLElement {
  const heads = ['address', 'kind', ...CLASSES.map(([, word]) => word), ''].map((text) =>
    h('th', {}, text),
  );
  return h(
    'table',
    { class: 'cards' },
    h('thead', {}, h('tr', {}, ...heads)),
    h('tbody', {}, ...frontends.map(frontendRow)),
  );
}

function frontendRow({
  at,
  kind,
  outcomes,
  allowedSources,
  notServed,
  target,
}: FrontendAnswer): HTMLElement {
  const ranges =
    allowedSources === undefined
      ? undefined
      : h(
          'p',
          {},
          allowedSources.length === 0
            ? 'no source is allowed'
            : `only from ${allowedSources.join(', ')}`,
        );
  const unserved =
    notServed === undefined ? undefined : h('p', { class: 'bad' }, `✕ not served: ${notServed}`);
  const explain =
    target === undefined
      ? undefined
      : h(
          'a',
          {
            class: 'link',
            href: routeTo('path', { target }),
            at: { 'aria-label': `explain ${at}` },
          },
          'explain ›',
        );
  return h(
    'tr',
    { data: { frontend: at } },
    h('td', { class: 'mono' }, nameOf(at)),
    h('td', { class: 'ink2' }, KINDS[kind], ranges, unserved),
    ...CLASSES.map(([name, word]) => h('td', { data: { label: word } }, outcomeOf(outcomes[name]))),
    h('td', { class: 'r' }, explain),
  );
}

function outcomeOf({ action, list, masquerade }: OutcomeAnswer): HTMLElement {
  if (action === 'reject') return h('span', { class: 'bad' }, '✕ rejected');
  if (action === 'drop') return h('span', { class: 'warn' }, '▽ dropped');
  const to = list === 'local' ? 'endpoints on this node' : 'all endpoints';
  return h(
    'span',
    {},
    `→ ${to}`,
    masquerade === true
      ? h('p', { title: 'the endpoint sees an address of this node' }, 'masqueraded')
      : h('p', { title: "the endpoint sees the client's address" }, 'source kept'),
  );
}
