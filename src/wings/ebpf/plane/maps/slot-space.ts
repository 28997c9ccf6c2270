/** A reader that began before a range was freed is done with it long before this. */
const REUSE_AFTER_MS = 1000;

export interface SlotRange {
  readonly first: number;
  readonly length: number;
}

/**
 * Which slots are free. A list gets a stretch of a few standard lengths, so that what one list
 * leaves another can have; a stretch that was given back rests before it is given out again.
 */
export class SlotSpace {
  #capacity: number;
  readonly #nowMs: () => number;
  /** Starts of free stretches by length. */
  readonly #free = new Map<number, number[]>();
  /** Larger free ranges that are not split yet. */
  #uncut: SlotRange[];
  /**
   * Ranges released since neighbours were last merged: without any, merging would change nothing.
   */
  #releasedCount = 0;
  #resting: { readonly range: SlotRange; readonly untilMs: number }[] = [];

  /** `used`: ranges that must not be allocated; they may overlap. */
  constructor(options: {
    readonly capacity: number;
    readonly used?: readonly SlotRange[];
    readonly nowMs?: () => number;
  }) {
    this.#capacity = options.capacity;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    const gaps = gapsBetween(options.used ?? [], options.capacity);
    this.#uncut = [];
    this.#offer(gaps);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Released ranges that still rest, for the space that replaces this one. */
  restingRanges(): SlotRange[] {
    this.#wake();
    return this.#resting.map(({ range }) => range);
  }

  /** Adds slots; ranges in use or at rest stay so. */
  extendTo(capacity: number): void {
    const more = capacity - this.#capacity;
    if (more > 0) this.#uncut.push({ first: this.#capacity, length: more });
    this.#capacity = capacity;
  }

  /** Undefined: there is no range of this length. */
  take(count: number): number | undefined {
    const length = standardLength(count);
    this.#wake();
    return (
      this.#free.get(length)?.pop() ??
      this.#cut(length) ??
      this.#split(length) ??
      this.#cutMerged(length)
    );
  }

  giveBack({ first, length: count }: SlotRange): void {
    const range = { first, length: standardLength(count) };
    this.#resting.push({ range, untilMs: this.#nowMs() + REUSE_AFTER_MS });
  }

  /** No program has seen it: it need not rest. */
  giveBackUnused({ first, length: count }: SlotRange): void {
    this.#release({ first, length: standardLength(count) });
  }

  #wake(): void {
    if (this.#resting.length === 0) return;
    const nowMs = this.#nowMs();
    let count = 0;
    while (count < this.#resting.length && (this.#resting[count]?.untilMs ?? 0) <= nowMs) count++;
    if (count === 0) return;
    for (const { range } of this.#resting.splice(0, count)) this.#release(range);
  }

  /** There may be thousands of short ranges, and an allocation must not walk over them. */
  #offer(gaps: readonly SlotRange[]): void {
    this.#uncut = gaps.filter(({ length }) => length > MOST_EXACT);
    for (const gap of gaps) if (gap.length <= MOST_EXACT) this.#release(gap);
    this.#releasedCount = 0;
  }

  #release({ first, length }: SlotRange): void {
    const starts = this.#free.get(length) ?? [];
    this.#free.set(length, starts);
    starts.push(first);
    this.#releasedCount += 1;
  }

  #cut(length: number): number | undefined {
    const index = this.#uncut.findIndex((range) => range.length >= length);
    const range = this.#uncut[index];
    if (range === undefined) return undefined;
    const rest = { first: range.first + length, length: range.length - length };
    if (rest.length > 0) this.#uncut[index] = rest;
    else this.#uncut = this.#uncut.filter((each) => each !== range);
    return range.first;
  }

  /**
   * The last resort before more slots are needed: merges adjacent ranges. Without it, lists of ever
   * changing lengths would make the map grow though little of it is used.
   */
  #cutMerged(length: number): number | undefined {
    if (this.#releasedCount === 0) return undefined;
    const free = [...this.#free].flatMap(([each, starts]) =>
      starts.map((first) => ({ first, length: each })),
    );
    const gaps = merged([...free, ...this.#uncut]);
    this.#free.clear();
    this.#offer(gaps);
    return this.#cut(length);
  }

  /** The shortest of the longer ranges. */
  #split(length: number): number | undefined {
    const longer = [...this.#free].filter(([each, starts]) => each > length && starts.length > 0);
    const [from, starts] = longer.sort(([a], [b]) => a - b)[0] ?? [];
    const first = starts?.pop();
    if (from === undefined || first === undefined) return undefined;
    let at = first + length;
    for (let rest = from - length; rest > 0; ) {
      const part = standardLength(rest) === rest ? rest : Math.min(rest, MOST_EXACT);
      this.#release({ first: at, length: part });
      at += part;
      rest -= part;
    }
    return first;
  }
}

const MOST_EXACT = 16;

/** Neighbours as one. */
function merged(ranges: readonly SlotRange[]): SlotRange[] {
  const found: { first: number; length: number }[] = [];
  for (const { first, length } of ranges.toSorted((a, b) => a.first - b.first)) {
    const last = found.at(-1);
    if (last && last.first + last.length === first) last.length += length;
    else found.push({ first, length });
  }
  return found;
}

/** Exact for short lists, then in steps of an eighth: at most that much lies idle in a list. */
export function standardLength(count: number): number {
  if (count <= MOST_EXACT) return count;
  const step = 2 ** (Math.floor(Math.log2(count - 1)) - 3);
  return Math.ceil(count / step) * step;
}

/** Unused slots of these ranges, each once, in ranges that can be released. */
export function unusedIn(
  ranges: readonly SlotRange[],
  space: { readonly used: readonly SlotRange[]; readonly capacity: number },
): SlotRange[] {
  const isTaken = new Uint8Array(space.capacity);
  for (const { first, length } of space.used)
    isTaken.fill(1, first, first + standardLength(length));
  const found: SlotRange[] = [];
  for (const { first, length } of ranges) {
    const end = Math.min(first + length, space.capacity);
    for (let at = first; at < end; ) {
      const from = at;
      while (at < end && at - from < MOST_EXACT && !isTaken[at]) isTaken[at++] = 1;
      if (at > from) found.push({ first: from, length: at - from });
      else at += 1;
    }
  }
  return found;
}

function gapsBetween(used: readonly SlotRange[], capacity: number): SlotRange[] {
  const gaps: SlotRange[] = [];
  let from = 0;
  for (const { first, length } of [...used].sort((a, b) => a.first - b.first)) {
    if (first > from) gaps.push({ first: from, length: first - from });
    from = Math.max(from, first + standardLength(length));
  }
  if (from < capacity) gaps.push({ first: from, length: capacity - from });
  return gaps;
}
