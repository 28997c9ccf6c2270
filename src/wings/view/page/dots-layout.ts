import type { DotField, DotGroup } from './dot-field.ts';
import type { DotsLabel, DotsLayout, DotsRoom } from './dots-places.ts';
import { shelvesOf } from './dots-shelves.ts';

const LARGEST_CELL = 18;
const SMALLEST_CELL = 1.5;
const LABEL_HEIGHT = 16;
const LEAST_LABELLED_WIDTH = 46;

/**
 * Blocks of dots, namespace after namespace, in each what needs attention first. A dot stays where it
 * is while only states change.
 */
export function layDots(field: DotField, room: DotsRoom): DotsLayout {
  return shelvesOf(field, room) ?? layDense(field, room);
}

/** A small namespace shares a column with the one before if it fits below. */
function layDense(field: DotField, room: DotsRoom): DotsLayout {
  const { groups } = field;
  let [low, high] = [SMALLEST_CELL, LARGEST_CELL];
  if (widthAt(groups, high, room) > room.width) {
    for (let step = 0; step < 16; step += 1) {
      const middle = (low + high) / 2;
      if (widthAt(groups, middle, room) > room.width) high = middle;
      else low = middle;
    }
  } else low = high;
  return placed(field, low, room);
}

interface Place {
  readonly group: DotGroup;
  readonly column: number;
  readonly row: number;
  readonly columns: number;
  /** Gaps before it. */
  readonly gaps: number;
}

function placesAt(groups: readonly DotGroup[], rows: number): Place[] {
  let [column, row, gaps, isFirst] = [0, 0, 0, true];
  return groups.map((group) => {
    const fitsBelow = row > 0 && row + 1 + group.count <= rows;
    if (fitsBelow) row += 1;
    else if (!isFirst) {
      column += 1;
      row = 0;
      gaps += 1;
    }
    isFirst = false;
    const columns = fitsBelow ? 1 : Math.max(1, Math.ceil(group.count / rows));
    const place = { group, column, row, columns, gaps };
    column += columns - 1;
    row += Math.ceil(group.count / columns);
    return place;
  });
}

function rowsAt(groups: readonly DotGroup[], cell: number, { height, width }: DotsRoom): number {
  const most = Math.max(1, Math.floor(height / cell));
  const count = groups.reduce((so, each) => so + each.count + 1, 0);
  // Few dots are spread over the width instead of standing in one tall column.
  const spread = Math.max(4, Math.ceil((count * cell) / width) + 1);
  return cell === LARGEST_CELL ? Math.min(most, spread) : most;
}

function gapOf(cell: number): number {
  return Math.max(2, cell * 0.6);
}

function widthAt(groups: readonly DotGroup[], cell: number, room: DotsRoom): number {
  const last = placesAt(groups, rowsAt(groups, cell, room)).at(-1);
  return last === undefined ? 0 : (last.column + last.columns) * cell + last.gaps * gapOf(cell);
}

function placed(field: DotField, cell: number, room: DotsRoom): DotsLayout {
  const { groups } = field;
  const rows = rowsAt(groups, cell, room);
  const size = groups.reduce((so, each) => so + each.count, 0);
  const [x, y, order] = [new Float32Array(size), new Float32Array(size), new Uint32Array(size)];
  const places = placesAt(groups, rows);
  for (const { group, column, row, columns, gaps } of places) {
    const left = gaps * gapOf(cell) + column * cell;
    for (const [at, index] of field.inOrder(group).entries()) {
      x[index] = left + (at % columns) * cell;
      y[index] = (row + Math.floor(at / columns)) * cell;
      order[group.from + at] = index;
    }
  }
  const height = Math.ceil(rows * cell) + LABEL_HEIGHT;
  const begins = places.map(({ group, column, gaps }) => ({
    namespace: group.namespace,
    x: gaps * gapOf(cell) + column * cell,
  }));
  return { cell, height, x, y, order, labels: labelsOf(begins, { ...room, height }) };
}

/** Below the dots, for those that have the width to the next one. */
function labelsOf(
  begins: readonly Pick<DotsLabel, 'namespace' | 'x'>[],
  { width, height }: DotsRoom,
): DotsLabel[] {
  return begins.flatMap(({ namespace, x }, at) => {
    const next = begins.slice(at + 1).find((each) => each.x > x)?.x ?? width;
    const isCovered = begins[at - 1]?.x === x;
    const room = next - x - 6;
    return isCovered || room < LEAST_LABELLED_WIDTH ? [] : [{ namespace, x, y: height - 4, room }];
  });
}
