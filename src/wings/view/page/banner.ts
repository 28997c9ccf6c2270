import { h, replace } from './dom.ts';
import { duration } from './figures.ts';
import type { Store } from './store.ts';

/** Says why figures are old, above every screen. */
export function bannerOf(
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
