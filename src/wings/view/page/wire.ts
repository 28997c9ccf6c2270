import { s } from './dom.ts';

interface Knot {
  readonly kind: string;
  readonly x: number;
  readonly y: number;
  readonly column: Element | null;
  readonly bottom: number;
  readonly left: number;
}

const CORNER = 11;
/** As in path.css. */
const STACKED = '(max-width: 1150px)';

/** Draws the line from knot to knot, where the layout has put them: below columns, and up between them. */
export function drawWire(way: HTMLElement, place: HTMLElement): void {
  const origin = way.getBoundingClientRect();
  const knots = [...way.querySelectorAll<HTMLElement>('[data-knot]')].map((element) =>
    knotOf(element, origin),
  );
  const pieces: SVGElement[] = [];
  let tone = 'asked';
  for (const [at, knot] of knots.entries()) {
    const before = knots[at - 1];
    if (before === undefined) continue;
    if (before.kind === 'turn') tone = 'translated';
    if (before.kind === 'end' || knot.kind === 'beyond') tone = 'over';
    const d = joint(before, knot);
    if (tone !== 'over') pieces.push(s('path', { class: `halo ${tone}`, at: { d } }));
    pieces.push(s('path', { class: `line ${tone}`, at: { d } }));
  }
  const { width, height } = origin;
  place.replaceChildren(
    s('svg', { at: { viewBox: `0 0 ${width} ${height}`, width, height } }, ...pieces),
  );
}

function knotOf(element: HTMLElement, origin: DOMRect): Knot {
  const box = element.getBoundingClientRect();
  const kind = element.dataset['knot'] ?? '';
  const column = element.closest('.station');
  const around = (column ?? element).getBoundingClientRect();
  const isPlace = column === null;
  const isStacked = matchMedia(STACKED).matches;
  const x = !isPlace
    ? box.left + box.width / 2
    : isStacked
      ? box.left + 30
      : kind === 'from'
        ? box.right
        : box.left;
  const y = !isPlace
    ? box.top + box.height / 2
    : isStacked
      ? kind === 'from'
        ? box.bottom
        : box.top
      : box.top + box.height / 2;
  return {
    kind,
    x: x - origin.left,
    y: y - origin.top,
    column,
    bottom: around.bottom - origin.top,
    left: around.left - origin.left,
  };
}

function joint(a: Knot, b: Knot): string {
  const isStraight = Math.abs(a.x - b.x) < 30;
  if (isStraight)
    return `M${a.x} ${a.y}C${a.x} ${(a.y + b.y) / 2} ${b.x} ${(a.y + b.y) / 2} ${b.x} ${b.y}`;
  if (a.column === null || a.column === b.column) {
    const middle = (a.x + b.x) / 2;
    return `M${a.x} ${a.y}C${middle} ${a.y} ${middle} ${b.y} ${b.x} ${b.y}`;
  }
  const low = a.bottom - 14;
  const up = b.column === null ? b.x - 22 : b.left - 7;
  return `M${a.x} ${a.y}V${low - CORNER}Q${a.x} ${low} ${a.x + CORNER} ${low}H${up - CORNER}Q${up} ${low} ${up} ${low - CORNER}V${b.y + CORNER}Q${up} ${b.y} ${up + CORNER} ${b.y}H${b.x}`;
}
