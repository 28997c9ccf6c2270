import type { PastPoint, ViewTick } from '../protocol/tick.ts';
import { h, s, setAttribute, setText } from './dom.ts';
import { ABSENT, count, counted, exactRate, milliseconds, percent, rate } from './figures.ts';
import type { Store } from './store.ts';

interface TileText {
  readonly value: string;
  readonly unit: string;
  readonly note: string;
  readonly tone?: 'bad' | 'warn' | 'good';
  /** How far a bar is filled, from 0 to 1. */
  readonly part?: number | undefined;
  /** The exact figure, or why there is none. */
  readonly title: string;
}

interface TileKind {
  readonly fact: string;
  readonly title: string;
  readonly text: (tick: ViewTick) => TileText;
  readonly point?: (point: PastPoint) => number | undefined;
  readonly tone?: 'good' | 'flow' | 'bad';
}

const KINDS: readonly TileKind[] = [
  { fact: 'rows', title: 'in the kernel as desired', text: rowsText },
  {
    fact: 'propagation',
    title: 'from a change to the kernel',
    text: propagationText,
    point: ({ p50Ms }) => p50Ms,
    tone: 'good',
  },
  {
    fact: 'new',
    title: 'new connections',
    text: newText,
    point: ({ newPerSecond }) => newPerSecond,
    tone: 'flow',
  },
  {
    fact: 'rejected',
    title: 'rejected or dropped',
    text: rejectedText,
    point: rejectedPoint,
    tone: 'bad',
  },
  { fact: 'conntrack', title: 'connection table', text: conntrackText },
];

/** The five figures above the map. */
export function tilesOf(store: Store): { readonly element: HTMLElement; update(): void } {
  const tiles = KINDS.map((kind) => tileOf(kind));
  const element = h(
    'section',
    { class: 'tiles', at: { 'aria-label': 'figures of this node' } },
    ...tiles.map((tile) => tile.element),
  );
  const update = (): void => {
    for (const tile of tiles) tile.update(store);
  };
  return { element, update };
}

function tileOf({ fact, title, text, point, tone = 'flow' }: TileKind): {
  readonly element: HTMLElement;
  update(store: Store): void;
} {
  const value = h('span', {});
  const unit = h('small', {});
  const note = h('div', { class: 'n' });
  const spark = point === undefined ? undefined : sparkOf(tone);
  const meter = point === undefined ? h('i', {}) : undefined;
  const figure = h('div', { class: 'v' }, value, unit);
  const element = h(
    'div',
    { class: 'panel tile', data: { fact, value: '' } },
    h('div', { class: 'k' }, title),
    figure,
    note,
    spark?.element,
    meter === undefined ? undefined : h('div', { class: 'meter' }, meter),
  );
  const update = ({ tick, past }: Store): void => {
    if (tick === undefined) return;
    const now = text(tick);
    setText(value, now.value);
    setText(unit, now.unit);
    setText(note, now.note);
    setAttribute(element, 'title', now.title);
    setAttribute(element, 'data-value', now.value);
    setAttribute(figure, 'class', `v ${now.tone ?? ''}`);
    if (point !== undefined) spark?.update(past.map(point));
    if (meter) {
      meter.style.width = `${((now.part ?? 0) * 100).toFixed(1)}%`;
      setAttribute(meter, 'class', now.tone ?? '');
    }
  };
  return { element, update };
}

function rowsText({ rows }: ViewTick): TileText {
  const { desired, applied, pending, failing, endpoints } = rows;
  const ends = endpoints === undefined ? '' : ` They have ${counted(endpoints, 'endpoint')}.`;
  return {
    value: count(applied),
    unit: ` of ${count(desired)} service ports`,
    part: desired === 0 ? undefined : applied / desired,
    note: `${count(pending)} waiting · ${count(failing)} rejected`,
    ...(failing > 0 ? { tone: 'bad' as const } : pending > 0 ? { tone: 'warn' as const } : {}),
    title: `Service ports that the kernel has acknowledged as they are desired.${ends} Waiting: still to be written. Rejected: the kernel did not take the write; it is retried.`,
  };
}

function propagationText({ propagation }: ViewTick): TileText {
  if (propagation === undefined) {
    return {
      value: ABSENT,
      unit: '',
      note: 'no change yet',
      title: 'No change arrived since the agent started.',
    };
  }
  const { p50Ms, p99Ms, maxMs, count: changes } = propagation;
  return {
    value: milliseconds(p50Ms),
    unit: ' median',
    note: `p99 ${milliseconds(p99Ms)} · ${counted(changes, 'change')}`,
    title: `From the receipt of a change to the acknowledgement of the kernel, over the last ${count(changes)}: p50 ${p50Ms} ms, p99 ${p99Ms} ms, longest ${maxMs} ms.`,
  };
}

function newText({ totals, ages }: ViewTick): TileText {
  const { newPerSecond, live, busyPorts } = totals;
  return {
    value: rate(newPerSecond),
    unit: '',
    note: `${count(live)} open · ${counted(busyPorts, 'busy port')}`,
    title:
      newPerSecond === undefined
        ? 'Not measured twice yet, or this mode cannot know it.'
        : `${exactRate(newPerSecond)} got an endpoint${ages.countersOver === undefined ? '' : `, over ${ages.countersOver.toFixed(1)} s`}. Open: ${live === undefined ? 'this mode cannot know' : count(live)}.`,
  };
}

function rejectedText({ totals }: ViewTick): TileText {
  const { rejectedPerSecond: rejected, droppedPerSecond: dropped } = totals;
  const isKnown = rejected !== undefined || dropped !== undefined;
  const sum = (rejected ?? 0) + (dropped ?? 0);
  return {
    value: isKnown ? rate(sum) : ABSENT,
    unit: '',
    note: `${rate(rejected)} rejected · ${rate(dropped)} dropped`,
    ...(sum > 0 ? { tone: 'bad' as const } : {}),
    title: isKnown
      ? `Packets to Services without an endpoint. Rejected (the client hears at once): ${exactRate(rejected)}. Dropped (the client waits): ${exactRate(dropped)}.`
      : 'Not measured twice yet, or this mode cannot know it.',
  };
}

function rejectedPoint({ rejectedPerSecond, droppedPerSecond }: PastPoint): number | undefined {
  if (rejectedPerSecond === undefined && droppedPerSecond === undefined) return undefined;
  return (rejectedPerSecond ?? 0) + (droppedPerSecond ?? 0);
}

function conntrackText({ conntrack }: ViewTick): TileText {
  if (conntrack === undefined) {
    return {
      value: ABSENT,
      unit: '',
      note: 'cannot be read',
      title: 'The size of conntrack cannot be read here.',
    };
  }
  const { entries, max, insertFailed, earlyDrop } = conntrack;
  const part = max === 0 ? undefined : entries / max;
  const isFull = (part ?? 0) > 0.9;
  return {
    value: percent(part),
    part,
    unit: ` of ${count(max)}`,
    note: `insert failed ${count(insertFailed)} · early drop ${count(earlyDrop)}`,
    ...(isFull ? { tone: 'bad' as const } : {}),
    title: `conntrack has ${count(entries)} of ${count(max)} entries. When it is full, new connections are dropped.`,
  };
}

const WIDTH = 150;
const HEIGHT = 40;

/** A small line of the last minutes; gaps where nothing was measured. */
function sparkOf(tone: string): {
  readonly element: SVGElement;
  update(values: readonly (number | undefined)[]): void;
} {
  const area = s('path', { class: 'spark-area' });
  const line = s('path', { class: 'spark-line' });
  const element = s(
    'svg',
    {
      class: `spark ${tone}`,
      at: { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    },
    area,
    line,
  );
  const update = (values: readonly (number | undefined)[]): void => {
    const path = linePath(values);
    setAttribute(line, 'd', path.line);
    setAttribute(area, 'd', path.area);
    setAttribute(element, 'data-points', values.length);
  };
  return { element, update };
}

function linePath(values: readonly (number | undefined)[]): {
  readonly line: string;
  readonly area: string;
} {
  const known = values.filter((value) => value !== undefined);
  if (known.length < 2) return { line: '', area: '' };
  const top = Math.max(...known) * 1.15 || 1;
  let [line, area] = ['', ''];
  let previousX: number | undefined;
  for (const [at, value] of values.entries()) {
    if (value === undefined) {
      if (previousX !== undefined) area += `L${previousX} ${HEIGHT}Z`;
      previousX = undefined;
      continue;
    }
    const x = round((at / (values.length - 1)) * WIDTH);
    const y = round(HEIGHT - 3 - (value / top) * (HEIGHT - 8));
    line += `${previousX === undefined ? 'M' : 'L'}${x} ${y}`;
    area += previousX === undefined ? `M${x} ${HEIGHT}L${x} ${y}` : `L${x} ${y}`;
    previousX = x;
  }
  if (previousX !== undefined) area += `L${previousX} ${HEIGHT}Z`;
  return { line, area };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
