import { h } from './dom.ts';
import { SCREEN_TITLES, SCREENS } from './route.ts';

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
