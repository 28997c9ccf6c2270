import type { Column, ServiceColumn, Traffic } from './page-traffic.ts';

export interface Box<T> {
  readonly item: T;
  readonly y: number;
  readonly height: number;
}

/** A ribbon between two columns; all lengths in pixels. */
export interface Ribbon {
  readonly id: string;
  readonly side: 'from' | 'to';
  readonly service: string;
  /** The source or end. */
  readonly other: string;
  readonly perSecond: number;
  readonly thickness: number;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export interface RopesLayout {
  readonly x: {
    readonly from: number;
    readonly mid0: number;
    readonly mid1: number;
    readonly to: number;
  };
  readonly sources: readonly Box<Column>[];
  readonly services: readonly Box<ServiceColumn>[];
  readonly ends: readonly Box<Column>[];
  readonly ribbons: readonly Ribbon[];
}

const TOP = 26;
const LABEL_HEIGHT = 38;
const MIDDLE_HEIGHT = 26;
const GAP = 9;
const THINNEST = 1.2;
const THICKEST = 1.4;

/** Fixed columns: nothing to untangle, and nothing moves but by its own figure. */
export function layRopes(
  traffic: Traffic,
  { width, height }: { readonly width: number; readonly height: number },
): RopesLayout {
  const side = width > 1050 ? 172 : 150;
  const middle = Math.min(310, Math.max(210, width * 0.29));
  const hasSources = traffic.sources.length > 0;
  const left = hasSources ? side : 0;
  const right = width - side - 20;
  const mid0 = hasSources ? left + (right - left - middle) / 2 : 0;
  const x = { from: left, mid0, mid1: mid0 + middle, to: right };
  const thick = thicknessFor(traffic, height - TOP - 8);
  const sources = column(traffic.sources, {
    heightOf: ({ id }) => sumOf(traffic, { side: 'from', id, thick }),
    least: LABEL_HEIGHT,
    height,
  });
  const services = column(traffic.services, {
    heightOf: (each) => serviceHeight(each, thick),
    least: MIDDLE_HEIGHT,
    height,
  });
  const ends = column(traffic.ends, {
    heightOf: ({ id }) => sumOf(traffic, { side: 'to', id, thick }),
    least: LABEL_HEIGHT,
    height,
  });
  const ribbons = [
    ...ribbonsOf('from', { boxes: services, others: sources, thick, x }),
    ...ribbonsOf('to', { boxes: services, others: ends, thick, x }),
  ];
  return { x, sources, services, ends, ribbons };
}

type Thick = (perSecond: number) => number;

/** As thick as fits: the fullest column decides. Square root, so that small ones stay visible. */
function thicknessFor(traffic: Traffic, room: number): Thick {
  const at =
    (factor: number): Thick =>
    (perSecond) =>
      Math.max(THINNEST, Math.sqrt(perSecond) * factor);
  const needs = (thick: Thick): number =>
    Math.max(
      total(traffic.services.map((each) => Math.max(MIDDLE_HEIGHT, serviceHeight(each, thick)))),
      total(
        traffic.sources.map(({ id }) =>
          Math.max(LABEL_HEIGHT, sumOf(traffic, { side: 'from', id, thick })),
        ),
      ),
      total(
        traffic.ends.map(({ id }) =>
          Math.max(LABEL_HEIGHT, sumOf(traffic, { side: 'to', id, thick })),
        ),
      ),
    );
  let [low, high] = [0.02, maximum(traffic)];
  for (let step = 0; step < 14; step += 1) {
    const middle = (low + high) / 2;
    if (needs(at(middle)) > room) high = middle;
    else low = middle;
  }
  return at(low);
}

/** A single quiet Service is not to look like a flood. */
function maximum(traffic: Traffic): number {
  const most = Math.max(1, ...traffic.services.map(({ perSecond = 0 }) => perSecond));
  return most < 400 ? 60 / Math.sqrt(most) : Math.max(THICKEST, 110 / Math.sqrt(most));
}

function total(heights: readonly number[]): number {
  return heights.reduce((so, height) => so + height + GAP, -GAP);
}

function sumOf(
  traffic: Traffic,
  { side, id, thick }: { readonly side: 'from' | 'to'; readonly id: string; readonly thick: Thick },
): number {
  return traffic.services
    .flatMap((each) => each[side])
    .filter((part) => part.id === id)
    .reduce((so, { perSecond }) => so + thick(perSecond), 0);
}

function serviceHeight({ from, to }: ServiceColumn, thick: Thick): number {
  const side = (parts: ServiceColumn['from']): number =>
    parts.reduce((so, { perSecond }) => so + thick(perSecond), 0);
  return Math.max(side(from), side(to)) + 4;
}

interface ColumnOptions<T> {
  readonly heightOf: (item: T) => number;
  readonly least: number;
  readonly height: number;
}

function column<T>(items: readonly T[], { heightOf, least, height }: ColumnOptions<T>): Box<T>[] {
  const heights = items.map(heightOf);
  const pitches = heights.map((each) => Math.max(least, each));
  const room = height - TOP - 8 - total(pitches);
  const between = items.length > 1 ? Math.max(0, Math.min(26, room / (items.length - 1))) : 0;
  let y = TOP + Math.max(0, (room - between * (items.length - 1)) / 2);
  return items.map((item, at) => {
    const [own, pitch] = [heights[at] ?? 0, pitches[at] ?? 0];
    const isBox = least === MIDDLE_HEIGHT;
    const box = isBox
      ? { item, y, height: pitch }
      : { item, y: y + (pitch - own) / 2, height: own };
    y += pitch + GAP + between;
    return box;
  });
}

interface RibbonOptions {
  readonly boxes: readonly Box<ServiceColumn>[];
  readonly others: readonly Box<Column>[];
  readonly thick: Thick;
  readonly x: RopesLayout['x'];
}

function ribbonsOf(side: 'from' | 'to', { boxes, others, thick, x }: RibbonOptions): Ribbon[] {
  const used = new Map(others.map(({ item, y }) => [item.id, y]));
  const order = others.map(({ item }) => item.id);
  return boxes.flatMap(({ item, y, height }) => {
    const parts = item[side]
      .filter(({ id }) => used.has(id))
      .sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
    const inner = parts.reduce((so, { perSecond }) => so + thick(perSecond), 0);
    let own = y + (height - inner) / 2;
    return parts.map(({ id, perSecond }) => {
      const thickness = thick(perSecond);
      const other = used.get(id) ?? 0;
      const ends =
        side === 'from'
          ? { x0: x.from + 6, y0: other, x1: x.mid0, y1: own }
          : { x0: x.mid1, y0: own, x1: x.to, y1: other };
      used.set(id, other + thickness);
      own += thickness;
      return {
        id: `${side} ${item.id} ${id}`,
        side,
        service: item.id,
        other: id,
        perSecond,
        thickness,
        ...ends,
      };
    });
  });
}
