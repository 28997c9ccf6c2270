import { addressOf, h, nameOf } from './dom.ts';
import type { Station, Stop, Way, WayPlace } from './way.ts';
import { drawWire } from './wire.ts';

/** The line through the stations, and what each did. */
export function wayView(way: Way, signal: AbortSignal): HTMLElement {
  const isBroken = way.stations.some(({ stops }) => stops.some(({ ends }) => ends !== undefined));
  const turn = way.stations.findIndex(({ stops }) => stops.some(({ isTurn }) => isTurn));
  const stations = h(
    'div',
    { class: 'stations' },
    ...way.stations.map((each, at) => stationView(each, turn !== -1 && at > turn)),
  );
  stations.style.setProperty('--columns', way.stations.map(columnOf).join(' '));
  const inside = h(
    'div',
    { class: 'node-box' },
    h(
      'div',
      { class: 'node-head' },
      h('b', {}, 'this node'),
      h(
        'span',
        { class: 'sub' },
        way.isProven ? ' the kernel, hook by hook' : ' predicted from the rows',
      ),
    ),
    stations,
  );
  const wire = h('div', { class: 'wire', at: { 'aria-hidden': 'true' } });
  const element = h(
    'div',
    {
      class: `way ${way.isProven ? '' : 'is-predicted'}`,
      data: { proven: String(way.isProven), broken: String(isBroken) },
    },
    wire,
    placeBox(way.from, 'from'),
    inside,
    placeBox(way.to, way.to.isReached ? 'to' : 'to is-missed'),
    h('p', { class: 'way-answer' }, way.answer),
  );
  const sizes = new ResizeObserver(() => drawWire(element, wire));
  sizes.observe(element);
  signal.addEventListener('abort', () => sizes.disconnect(), { once: true });
  return element;
}

function placeBox({ title, address, note }: WayPlace, kind: string): HTMLElement {
  return h(
    'div',
    { class: `place ${kind}`, data: { knot: kind.split(' ')[0] } },
    h('b', {}, nameOf(title)),
    address === '' || address === title
      ? undefined
      : h('div', { class: 'mono' }, addressOf(address)),
    h('div', { class: 'sub' }, note),
  );
}

/** Wider where there is more to read. */
function columnOf({ stops, packet }: Station): string {
  const letters = stops.reduce((so, { does, title }) => so + does.length + title.length, 0);
  const weight = 1 + Math.min(0.6, letters / 400) + (packet === undefined ? 0 : 0.25);
  return `minmax(0, ${weight.toFixed(2)}fr)`;
}

function stationView({ name, means, packet, stops }: Station, isTranslated: boolean): HTMLElement {
  const isBeyond = stops.every((stop) => stop.isBeyond);
  return h(
    'section',
    {
      class: `station ${isBeyond ? 'is-beyond' : isTranslated ? 'is-translated' : ''}`,
      data: { station: name },
    },
    h('h3', {}, name),
    h('div', { class: 'sub' }, means),
    packet === undefined
      ? undefined
      : h(
          'div',
          { class: 'packet mono' },
          h('span', {}, addressOf(packet.source)),
          ' → ',
          h('b', {}, addressOf(packet.destination)),
        ),
    h('ol', {}, ...stops.map(stopView)),
  );
}

function stopView({ title, by, does, kind, isTurn, ends, isBeyond }: Stop): HTMLElement {
  const classes = [
    'stop',
    kind,
    isTurn ? 'is-turn' : '',
    ends === undefined ? '' : 'is-end',
    isBeyond ? 'is-beyond' : '',
  ];
  const knot = ends !== undefined ? 'end' : isBeyond ? 'beyond' : isTurn ? 'turn' : 'stop';
  return h(
    'li',
    { class: classes.join(' '), data: { ends, kind } },
    h('span', { class: 'knot', data: { knot } }, ends === undefined ? '' : '✕'),
    h(
      'div',
      {},
      h(
        'small',
        {},
        by,
        kind === 'foreign' ? h('span', { class: 'tag warn' }, "not Fairlead's") : undefined,
      ),
      h('b', {}, nameOf(title)),
      h('div', { class: 'does' }, does),
    ),
  );
}
