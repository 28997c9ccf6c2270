import { fillFor, h, nameOf, replace, s, setAttribute, setText } from './dom.ts';
import { counted, duration } from './figures.ts';
import { routeTo, SCREEN_TITLES, SCREENS, type ScreenName } from './route.ts';
import type { Store } from './store.ts';
import { chosenTheme, nextTheme } from './theme.ts';

const THEME_MARKS = { system: '◐', light: '☀', dark: '☾' } as const;

export interface Frame {
  readonly root: HTMLElement;
  readonly main: HTMLElement;
  readonly search: HTMLInputElement;
  show(screen: ScreenName): void;
  /** Shows what the store has. */
  update(): void;
}

export interface FrameActions {
  readonly onSearch: (text: string) => void;
  readonly onTheme: () => void;
  readonly onRetry: () => void;
  readonly onHelp: () => void;
}

/** What all screens have in common: header, banner and footer. */
export function frameOf(store: Store, actions: FrameActions): Frame {
  const main = h('main', { at: { id: 'main', tabindex: -1 } });
  const node = h('div', { class: 'about-node' });
  const banner = h('div', { at: { role: 'status', 'aria-live': 'polite' } });
  const search = searchInput(actions.onSearch);
  const tabs = tabLinks();
  const age = h('span', { data: { fact: 'age' } });
  const header = h(
    'header',
    { class: 'top' },
    h('a', { class: 'skip', href: '#/map', onClick: skipTo(main) }, 'Skip to the content'),
    h(
      'a',
      { class: 'logo', href: '#/map', at: { 'aria-label': 'fairlead view, map' } },
      logo(),
      'fairlead',
    ),
    node,
    h('label', { class: 'search' }, magnifier(), search, h('kbd', {}, '/')),
    h('nav', { class: 'tabs', at: { 'aria-label': 'screens' } }, ...tabs.values()),
    themeButton(actions.onTheme),
  );
  const root = h('div', {}, header, banner, main, footerOf(age, actions.onHelp));
  const show = (screen: ScreenName): void => {
    for (const [name, tab] of tabs) {
      if (name === screen) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    const where = store.about?.node;
    document.title = `${SCREEN_TITLES[screen]}${where === undefined ? '' : `, ${where}`} - fairlead view`;
    root.dataset['screen'] = screen;
  };
  const update = (): void => {
    fillNode(node, store);
    bannerOf(banner, { store, onRetry: actions.onRetry });
    setText(age, ageText(store));
    const { problemCount } = store;
    const tag = problemCount ? h('span', { class: 'tag bad' }, `${problemCount}`) : undefined;
    const doctor = tabs.get('doctor');
    const label = `Doctor${problemCount ? ` ${problemCount}` : ''}`;
    if (doctor && doctor.textContent !== label) replace(doctor, 'Doctor ', tag);
  };
  return { root, main, search, show, update };
}

function fillNode(node: HTMLElement, { about, tick }: Store): void {
  if (about === undefined) return;
  const isReady = tick?.isReady ?? about.isReady;
  const troubles = tick?.troubles ?? about.troubles;
  const nowMs = tick?.atMs ?? about.atMs;
  const up = duration(Math.max(0, nowMs - about.startedAtMs) / 1000);
  const key = JSON.stringify([about.node, about.zone, about.mode, isReady, troubles.length, up]);
  const [word, tone] = !isReady
    ? ['✕ not ready', 'bad']
    : troubles.length > 0
      ? [`! ready, ${counted(troubles.length, 'warning')}`, 'warn']
      : ['✓ ready', 'good'];
  const why = troubles.map(({ what, next }) => `${what}: ${next}`).join('\n');
  fillFor(node, key, () => [
    h('b', {}, nameOf(about.node)),
    about.zone === undefined
      ? undefined
      : h('span', { title: 'zone of this node' }, nameOf(about.zone)),
    h(
      'span',
      {
        class: `pill ${tone}`,
        title: why === '' ? 'nothing to complain of' : why,
        data: { fact: 'ready' },
      },
      word ?? '',
    ),
    h(
      'span',
      { class: 'pill', title: 'mode of the data plane', data: { fact: 'mode' } },
      about.mode,
    ),
    h('span', { class: 'pill up', title: `agent ${about.version}, pid ${about.pid}` }, `up ${up}`),
  ]);
}

function ageText({ tick, tickedAtMs, link }: Store): string {
  if (tick === undefined || tickedAtMs === undefined) return 'no figures yet';
  const ageSeconds = (performance.now() - tickedAtMs) / 1000;
  if (link.is === 'broken' || ageSeconds > 3) return `figures are ${duration(ageSeconds)} old`;
  const { counters, live, refused, events } = tick.ages;
  const parts = [
    counters === undefined ? undefined : `counters ${duration(counters)} old`,
    live === undefined ? undefined : `open connections ${duration(live)} old`,
    refused === undefined ? undefined : `rejected and dropped ${duration(refused)} old`,
    `conntrack events ${events}`,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

function footerOf(age: HTMLElement, onHelp: () => void): HTMLElement {
  return h(
    'footer',
    {},
    h('span', {}, 'read only · one update a second · ', age),
    h(
      'span',
      {},
      'on the terminal: fairlead top, history, explain, doctor · ',
      h(
        'a',
        {
          class: 'link',
          href: '#/map',
          onClick: (event) => {
            event.preventDefault();
            onHelp();
          },
        },
        'keys ?',
      ),
    ),
  );
}

function searchInput(onSearch: (text: string) => void): HTMLInputElement {
  const input = h('input', {
    at: {
      type: 'search',
      placeholder: 'Find a Service',
      title: 'by name, address or node port',
      'aria-label': 'Find a Service, an address or a node port',
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: 300,
    },
  });
  input.addEventListener('input', () => onSearch(input.value));
  return input;
}

function tabLinks(): ReadonlyMap<ScreenName, HTMLAnchorElement> {
  return new Map(
    SCREENS.map((name, at) => [
      name,
      h(
        'a',
        { href: routeTo(name), title: `key ${at + 1}`, data: { tab: name } },
        SCREEN_TITLES[name],
      ),
    ]),
  );
}

function themeButton(onTheme: () => void): HTMLButtonElement {
  const button = h('button', { class: 'theme', at: { type: 'button' } });
  const label = (): void => {
    const theme = chosenTheme();
    setText(button, THEME_MARKS[theme]);
    setAttribute(button, 'aria-label', `theme: ${theme}; change`);
    setAttribute(button, 'title', `theme: ${theme}`);
  };
  button.addEventListener('click', () => {
    nextTheme();
    label();
    onTheme();
  });
  label();
  return button;
}

function skipTo(main: HTMLElement): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    main.focus();
  };
}

function logo(): SVGElement {
  return s(
    'svg',
    { at: { viewBox: '0 0 30 22', 'aria-hidden': 'true' } },
    s('path', {
      class: 'logo-arch',
      at: { d: 'M3 19V9a6 6 0 0 1 12 0v10M15 19V9a6 6 0 0 1 12 0v10' },
    }),
    s('path', { class: 'logo-rope', at: { d: 'M0 15C7 8 10 8 15 11s9 3 15-4' } }),
  );
}

function magnifier(): SVGElement {
  return s(
    'svg',
    { at: { viewBox: '0 0 15 15', 'aria-hidden': 'true' } },
    s('circle', { at: { cx: 6.3, cy: 6.3, r: 4.6 } }),
    s('path', { at: { d: 'M10 10l4 4' } }),
  );
}

/** Says why figures are old, above every screen. */
function bannerOf(
  place: HTMLElement,
  { store, onRetry }: { readonly store: Store; readonly onRetry: () => void },
): void {
  const { link, trouble } = store;
  const is = link.is === 'broken' ? 'broken' : trouble === undefined ? 'none' : 'agent away';
  const wait =
    link.is === 'broken' ? Math.max(0, Math.ceil((link.retryAtMs - performance.now()) / 1000)) : 0;
  const key = `${is} ${wait} ${trouble?.message ?? ''}`;
  if (place.dataset['key'] === key) return;
  place.dataset['key'] = key;
  place.dataset['banner'] = is;
  if (is === 'none') replace(place);
  else if (is === 'broken') replace(place, brokenBanner({ store, wait, onRetry }));
  else replace(place, awayBanner(store));
}

function brokenBanner({
  store,
  wait,
  onRetry,
}: {
  readonly store: Store;
  readonly wait: number;
  readonly onRetry: () => void;
}): HTMLElement {
  const { tickedAtMs } = store;
  const age =
    tickedAtMs === undefined ? undefined : duration((performance.now() - tickedAtMs) / 1000);
  const old = age === undefined ? 'There are no figures yet.' : `What is shown is ${age} old.`;
  const again = wait === 0 ? 'Connecting …' : `Next attempt in ${wait} s.`;
  const button = h('button', { at: { type: 'button' }, onClick: onRetry }, 'Connect now');
  return h(
    'div',
    { class: 'banner' },
    h('b', {}, '✕ No connection to fairlead view.'),
    h(
      'span',
      {},
      `${old} ${again} If the command was ended, start it again and open the address that it prints.`,
    ),
    button,
  );
}

function awayBanner({ trouble }: Store): HTMLElement {
  return h(
    'div',
    { class: 'banner note' },
    h('b', {}, '! The agent does not answer.'),
    h(
      'span',
      {},
      `${trouble?.message ?? ''}${trouble?.next === undefined ? '' : `: ${trouble.next}`}. The kernel forwards as it was written last; figures are not updated.`,
    ),
  );
}
