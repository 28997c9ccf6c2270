import type { Labels } from './surroundings.ts';

interface Labelled {
  readonly labels: Labels;
}

/** Letters to change in all values together. */
const MOST_EDITS = 2;

/**
 * Something whose labels the selector nearly matches, and the selector that would: a typing error,
 * or a key of several that has another value.
 */
export function nearMiss<T extends Labelled>(
  selector: Labels,
  all: readonly T[],
): { readonly found: T; readonly labels: Labels } | undefined {
  const keys = Object.keys(selector);
  let best: { found: T; labels: Labels } | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const each of all) {
    const labels = Object.fromEntries(keys.map((key) => [key, each.labels[key] ?? '']));
    const cost = costOf(selector, labels);
    if (cost < least) {
      least = cost;
      best = { found: each, labels };
    }
  }
  return best;
}

/** Infinite: not near. */
function costOf(selector: Labels, labels: Labels): number {
  const keys = Object.keys(selector);
  const other = keys.filter((key) => selector[key] !== labels[key]);
  if (other.some((key) => labels[key] === '')) return Number.POSITIVE_INFINITY;
  const edits = other.reduce(
    (sum, key) => sum + distance(selector[key] ?? '', labels[key] ?? ''),
    0,
  );
  if (edits <= MOST_EDITS) return edits;
  return other.length === 1 && keys.length > 1 ? edits + MOST_EDITS : Number.POSITIVE_INFINITY;
}

/** Levenshtein distance of two label values, which have at most 63 characters. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
