import { h } from './dom.ts';
import { routeTo, SCREEN_TITLES, SCREENS } from './route.ts';

export interface KeyActions {
  readonly go: (hash: `#/${string}`) => void;
  readonly search: HTMLInputElement;
  readonly help: () => void;
}

/** `/` searches, 1 to 6 are screens, Esc leaves a field, arrows move in lists. */
export function listenToKeys({ go, search, help }: KeyActions): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return leave(search);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') return moveInList(event, search);
    if (isTyping(event.target)) return openFirst(event, search);
    const screen = SCREENS[Number(event.key) - 1];
    if (event.key === '/') {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === '?') help();
    else if (screen !== undefined) go(routeTo(screen));
  });
}

function leave(search: HTMLInputElement): void {
  const { activeElement } = document;
  if (activeElement === search && search.value !== '') {
    search.value = '';
    search.dispatchEvent(new Event('input'));
  } else if (activeElement instanceof HTMLElement) activeElement.blur();
}

/** Enter in the search opens the best find. */
function openFirst(event: KeyboardEvent, search: HTMLInputElement): void {
  if (event.key !== 'Enter' || event.target !== search) return;
  document.querySelector<HTMLAnchorElement>('[data-list] a.item')?.click();
}

/** Items of the list that has the focus, or of the first list of the screen from the search. */
function moveInList(event: KeyboardEvent, search: HTMLInputElement): void {
  const focused = document.activeElement;
  const list =
    focused?.closest('[data-list]') ??
    (focused === search || focused === document.body
      ? document.querySelector('[data-list]')
      : null);
  if (list === null || list === undefined) return;
  const items = [...list.querySelectorAll<HTMLElement>('[data-item]')];
  const at = items.indexOf(focused as HTMLElement);
  const next = at + (event.key === 'ArrowDown' ? 1 : -1);
  if (next < 0) {
    if (at === 0) search.focus();
    return;
  }
  event.preventDefault();
  items[Math.min(next, items.length - 1)]?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement
  );
}

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ['/', 'find a Service, an address or a node port'],
  ...SCREENS.map((name, at) => [`${at + 1}`, SCREEN_TITLES[name]] as const),
  ['↓ ↑', 'move in a list; in the dots also ← →'],
  ['Enter', 'open'],
  ['Esc', 'leave a field, close this'],
  ['?', 'these keys'],
];

/** A dialog with the keys. */
export function helpDialog(): HTMLDialogElement {
  const rows = KEYS.flatMap(([key, does]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, does)]);
  const close = h('button', { at: { type: 'button' } }, 'Close');
  const dialog = h(
    'dialog',
    { at: { 'aria-label': 'keys' } },
    h('h2', {}, 'Keys'),
    h('dl', { class: 'kv' }, ...rows),
    close,
  );
  close.addEventListener('click', () => dialog.close());
  return dialog;
}
