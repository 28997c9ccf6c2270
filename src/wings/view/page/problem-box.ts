import type { Problem } from '../protocol/common.ts';
import { h } from './dom.ts';

/** A request that failed, with what to do. */
export function problemBox({ code, message, next }: Problem): HTMLElement {
  return h(
    'div',
    { class: 'banner', at: { role: 'alert' }, data: { problem: code } },
    h('b', {}, `✕ ${message}`),
    next === undefined ? undefined : h('span', {}, next),
    h('code', {}, code),
  );
}

/** A panel that says why there is nothing in it. */
export function emptyPanel(text: string): HTMLElement {
  return h('section', { class: 'panel' }, h('p', { class: 'empty' }, text));
}
