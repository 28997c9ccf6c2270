import { h } from './dom.ts';

/** A panel that says why there is nothing in it. */
export function emptyPanel(text: string): HTMLElement {
  return h('section', { class: 'panel' }, h('p', { class: 'empty' }, text));
}
