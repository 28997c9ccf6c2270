import type { Dots } from '../protocol/dots-answer.ts';
import { ask } from './ask-server.ts';
import { openChanges } from './changes-screen.ts';
import { openDoctor } from './doctor-screen.ts';
import { frameOf } from './frame.ts';
import { helpDialog, listenToKeys } from './keyboard.ts';
import { openMap } from './map-screen.ts';
import type { OpenScreen } from './page-screens.ts';
import { openPath } from './path-screen.ts';
import { parseRoute, type Route, routeTo, type ScreenName } from './route.ts';
import { openService } from './service-screen.ts';
import { openServices } from './services-screen.ts';
import { Store } from './store.ts';
import { Stream } from './stream.ts';
import { applyTheme, chosenTheme } from './theme.ts';

const OPENERS: Readonly<Record<ScreenName, OpenScreen>> = {
  map: openMap,
  services: openServices,
  service: openService,
  changes: openChanges,
  path: openPath,
  doctor: openDoctor,
};

/** Between two attempts to fetch dots whose version has changed again. */
const DOTS_PAUSE_MS = 1000;

start();

function start(): void {
  applyTheme(chosenTheme());
  const store = new Store();
  const stream = new Stream(store);
  const always = new AbortController();
  const help = helpDialog();
  const go = (hash: `#/${string}`, how?: 'replace'): void => {
    if (how !== 'replace') location.hash = hash;
    else {
      history.replaceState(null, '', hash);
      show();
    }
  };
  const frame = frameOf(store, {
    onSearch: (text) => {
      const isThere = parseRoute(location.hash).screen === 'services';
      go(routeTo('services', { q: text }), isThere ? 'replace' : undefined);
    },
    onTheme: () => document.dispatchEvent(new Event('themechange')),
    onRetry: () => stream.open(),
    onHelp: () => help.showModal(),
  });
  let shown: AbortController | undefined;
  const show = (): void => {
    const route = parseRoute(location.hash);
    shown?.abort();
    shown = new AbortController();
    if (document.activeElement !== frame.search) frame.search.value = searched(route);
    const screen = OPENERS[route.screen]({ store, route, go, signal: shown.signal });
    screen.dataset['screen'] = route.screen;
    frame.main.replaceChildren(screen);
    frame.show(route.screen);
  };
  document.body.append(frame.root, help);
  listenToKeys({ go, search: frame.search, help: () => help.showModal() });
  window.addEventListener('hashchange', show);
  store.listen(() => frame.update(), always.signal);
  keepDots(store, always.signal);
  // Ages grow and pauses shorten although nothing arrives.
  setInterval(() => frame.update(), 1000);
  show();
  frame.update();
  stream.open();
}

function searched({ screen, params }: Route): string {
  return screen === 'services' ? (params['q'] ?? '') : '';
}

/** Fetches the dots at the start, and whenever Services were added or removed. */
function keepDots(store: Store, signal: AbortSignal): void {
  let isFetching = false;
  const fetchDots = async (): Promise<void> => {
    if (isFetching || (store.dots.version !== undefined && !store.dots.isStale)) return;
    isFetching = true;
    const answer = await ask<Dots>('/data/dots', {}, signal);
    if (answer?.is === 'answer') store.dots.fill(answer.value);
    await new Promise((resolve) => setTimeout(resolve, DOTS_PAUSE_MS));
    isFetching = false;
  };
  store.listen(() => void fetchDots(), signal);
  void fetchDots();
}
