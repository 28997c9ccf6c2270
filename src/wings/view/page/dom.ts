const SVG = 'http://www.w3.org/2000/svg';

export type Child = Node | string | undefined | false;

export interface Props {
  readonly class?: string;
  readonly title?: string | undefined;
  /** A route of this page; other addresses are not linked. */
  readonly href?: `#/${string}`;
  readonly data?: Readonly<Record<string, string | number | undefined>>;
  /** Further attributes, such as `aria-label`; undefined ones are left out. */
  readonly at?: Readonly<Record<string, string | number | undefined>>;
  readonly onClick?: (event: Event) => void;
}

/** An element. Strings become text nodes, so markup in a name stays text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, props);
  element.append(...nodes(children));
  return element;
}

/** An element of SVG. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  dress(element, props);
  element.append(...nodes(children));
  return element;
}

/** A name from the cluster: isolated, so that its direction does not change its neighbours'. */
export function nameOf(text: string, className = ''): HTMLElement {
  return h('bdi', className === '' ? {} : { class: className }, text);
}

/** `address:port`, which is broken before the port where it has to be. */
export function addressOf(text: string): HTMLElement {
  const colon = text.lastIndexOf(':');
  if (colon === -1) return nameOf(text);
  return h('bdi', {}, text.slice(0, colon), h('wbr'), text.slice(colon));
}

/** Text in which commands are between backquotes. */
export function withCode(text: string): Child[] {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : h('code', {}, part)));
}

/** Fills a place anew where what it shows has changed. */
export function fillFor(place: HTMLElement, key: string, fill: () => readonly Child[]): void {
  if (place.dataset['key'] === key) return;
  place.dataset['key'] = key;
  replace(place, ...fill());
}

export function replace(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodes(children));
}

/** Writes only what differs: the accessibility tree and the layout stay as they are otherwise. */
export function setText(element: Element, text: string): void {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

export function setAttribute(element: Element, name: string, value: string | number): void {
  const text = visible(String(value));
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

function dress(element: HTMLElement | SVGElement, props: Props): void {
  if (props.class !== undefined) element.setAttribute('class', props.class);
  if (props.title !== undefined) element.setAttribute('title', visible(props.title));
  if (props.href !== undefined) element.setAttribute('href', props.href);
  for (const [name, value] of Object.entries(props.data ?? {})) {
    if (value !== undefined) element.dataset[name] = String(value);
  }
  for (const [name, value] of Object.entries(props.at ?? {})) {
    if (value !== undefined) element.setAttribute(name, visible(String(value)));
  }
  if (props.onClick !== undefined) element.addEventListener('click', props.onClick);
}

function nodes(children: readonly Child[]): (Node | string)[] {
  return children
    .filter((child) => child !== undefined && child !== false)
    .map((child) => (typeof child === 'string' ? visible(child) : child));
}

/** Replaces what is shown by a newer state of the same, and leaves the focus where it was. */
export function refresh(place: Element, child: Node): void {
  const before = focusable(place);
  const at = before.indexOf(document.activeElement as HTMLElement);
  place.replaceChildren(child);
  if (at !== -1) focusable(place)[at]?.focus({ preventScroll: true });
}

function focusable(place: Element): HTMLElement[] {
  return [...place.querySelectorAll<HTMLElement>('a[href], button, input, select, canvas')];
}

/** Calls when the width of an element changes, and once at first: its height follows from content. */
export function onWidth(element: Element, call: () => void, signal: AbortSignal): void {
  let width = -1;
  const sizes = new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    call();
  });
  sizes.observe(element);
  signal.addEventListener('abort', () => sizes.disconnect(), { once: true });
}

/** Control characters, and those that change the direction of text or are not seen. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text from elsewhere with such characters written out, so that what is seen is what is there. */
function visible(text: string): string {
  return text.replace(HIDDEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
