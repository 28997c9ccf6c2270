import type { DotField, DotGroup } from './dot-field.ts';
import type { DotsLabel, DotsLayout, DotsRoom } from './dots-places.ts';

/** Dots that are smaller have no room for names between them. */
const SMALLEST_CELL = 8;
const LARGEST_CELL = 16;
const FEWEST_ROWS = 3;
const MOST_ROWS = 12;
/** Of more namespaces names are read by nobody. */
const MOST_GROUPS = 150;
const LABEL_HEIGHT = 16;
const SHELF_GAP = 8;
const BLOCK_GAP = 14;
const LETTER_WIDTH = 7.4;
const LONGEST_LABEL = 110;

interface Block {
  readonly group: DotGroup;
  readonly x: number;
  readonly shelf: number;
  readonly columns: number;
  readonly width: number;
}

/**
 * Blocks of dots below the names of their namespaces, one beside the other on shelves of the same
 * height, as large as fits. Undefined: there is no room for all names.
 */
export function shelvesOf(field: DotField, room: DotsRoom): DotsLayout | undefined {
  const { groups } = field;
  if (groups.length === 0 || groups.length > MOST_GROUPS) return undefined;
  for (let cell = LARGEST_CELL; cell >= SMALLEST_CELL; cell -= 1) {
    for (let rows = FEWEST_ROWS; rows <= MOST_ROWS; rows += 1) {
      const blocks = blocksAt(groups, { cell, rows, width: room.width });
      const height = heightOf(blocks, rows * cell);
      if (height <= room.height) return placed(field, blocks, { cell, rows, height });
    }
  }
  return undefined;
}

function blocksAt(
  groups: readonly DotGroup[],
  { cell, rows, width: most }: { cell: number; rows: number; width: number },
): Block[] {
  let [x, shelf] = [0, 0];
  return groups.map((group) => {
    const columns = Math.max(1, Math.ceil(group.count / rows));
    const label = Math.min(LONGEST_LABEL, group.namespace.length * LETTER_WIDTH);
    const width = Math.max(columns * cell, label);
    if (x > 0 && x + width > most) {
      x = 0;
      shelf += 1;
    }
    // A namespace that is wider than the page has no shelf.
    const block = { group, x, shelf: width > most ? Infinity : shelf, columns, width };
    x += width + BLOCK_GAP;
    return block;
  });
}

function heightOf(blocks: readonly Block[], dotsHeight: number): number {
  const shelves = Math.max(...blocks.map(({ shelf }) => shelf)) + 1;
  return shelves * (LABEL_HEIGHT + dotsHeight + SHELF_GAP) - SHELF_GAP;
}

function placed(
  field: DotField,
  blocks: readonly Block[],
  { cell, rows, height }: { cell: number; rows: number; height: number },
): DotsLayout {
  const [x, y] = [new Float32Array(field.size), new Float32Array(field.size)];
  const order = new Uint32Array(field.size);
  const labels: DotsLabel[] = [];
  for (const { group, x: left, shelf, columns, width } of blocks) {
    const top = shelf * (LABEL_HEIGHT + rows * cell + SHELF_GAP) + LABEL_HEIGHT;
    labels.push({ namespace: group.namespace, x: left, y: top - 5, room: width });
    for (const [at, index] of field.inOrder(group).entries()) {
      x[index] = left + (at % columns) * cell;
      y[index] = top + Math.floor(at / columns) * cell;
      order[group.from + at] = index;
    }
  }
  return { cell, height, x, y, order, labels };
}
