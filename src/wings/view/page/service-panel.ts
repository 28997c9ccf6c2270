import type { KernelState, ServiceAnswer, ServicePortAnswer } from '../protocol/service-page.ts';
import { h, nameOf } from './dom.ts';
import { endpointTable } from './endpoint-table.ts';
import { count, milliseconds, rate } from './figures.ts';
import { routeTo } from './route.ts';

/** The selected Service beside the map: addresses, endpoints, shares and reasons. */
export function servicePanel({ service, ports }: ServiceAnswer): HTMLElement {
  return h(
    'div',
    { class: 'stack', data: { service } },
    h(
      'div',
      { class: 'head' },
      h(
        'h2',
        { class: 'big' },
        h('a', { class: 'name', href: routeTo('service', { name: service }) }, nameOf(service)),
      ),
      h('a', { class: 'button main end', href: routeTo('path', { target: service }) }, 'explain ›'),
    ),
    ...ports.slice(0, 3).map((port) => portPart(port)),
    ports.length > 3
      ? h(
          'a',
          { class: 'link', href: routeTo('service', { name: service }) },
          `${count(ports.length - 3)} more ports ›`,
        )
      : undefined,
  );
}

function portPart(port: ServicePortAnswer): HTMLElement {
  const at = port.frontends
    .slice(0, 5)
    .flatMap(({ at: address }, index) => [
      index === 0 ? '' : ' · ',
      h('span', { class: 'mono ink2' }, nameOf(address)),
    ]);
  return h(
    'div',
    { data: { port: port.name } },
    h('div', { class: 'sub' }, portTitle(port), ' · ', ...at),
    h('div', { class: 'row' }, ...portFigures(port)),
    endpointTable(port, { most: 6, isNarrow: true }),
  );
}

/** `http TCP IPv4`. */
export function portTitle({ name, protocol, family }: ServicePortAnswer): string {
  const colon = name.indexOf(':');
  return `${colon === -1 ? '' : `${name.slice(colon + 1)} `}${protocol} ${family}`;
}

export function portFigures(port: ServicePortAnswer): HTMLElement[] {
  const {
    newPerSecond,
    live,
    rejectedPerSecond = 0,
    droppedPerSecond = 0,
    kernel,
    selectedCount,
    endpointCount,
  } = port;
  return [
    kernelTag(kernel),
    h('span', { class: 'tag', data: { fact: 'new' } }, `${rate(newPerSecond)} new`),
    h(
      'span',
      {
        class: 'tag',
        data: { fact: 'open' },
        title: live === undefined ? 'this mode cannot know, or it was not counted yet' : undefined,
      },
      `${count(live)} open`,
    ),
    h(
      'span',
      { class: `tag ${selectedCount === 0 ? 'bad' : ''}` },
      `${count(selectedCount)} of ${count(endpointCount)} endpoints used`,
    ),
    rejectedPerSecond > 0
      ? h(
          'span',
          { class: 'tag bad', data: { fact: 'rejected' } },
          `✕ ${rate(rejectedPerSecond)} rejected`,
        )
      : undefined,
    droppedPerSecond > 0
      ? h(
          'span',
          { class: 'tag warn', data: { fact: 'dropped' } },
          `▽ ${rate(droppedPerSecond)} dropped`,
        )
      : undefined,
  ].filter((each) => each !== undefined);
}

function kernelTag(kernel: KernelState | undefined): HTMLElement | undefined {
  if (kernel === undefined) return undefined;
  const { is, forMs, error } = kernel;
  const since = forMs === undefined ? '' : ` for ${milliseconds(forMs)}`;
  if (is === 'applied') return h('span', { class: 'tag good' }, '✓ in the kernel');
  if (is === 'waiting') return h('span', { class: 'tag warn' }, `! waits for the kernel${since}`);
  return h('span', { class: 'tag bad' }, `✕ rejected by the kernel${since}: ${error ?? ''}`);
}
