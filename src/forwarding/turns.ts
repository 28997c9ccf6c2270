/** Work that can be paused: yields how many frontends and endpoints it has handled since the last yield. */
export type InTurns<Result> = Generator<number, Result, void>;

/** All of it at once. */
export function toEnd<Result>(work: InTurns<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** About so much of it; undefined: there is more. */
export function someOf<Result>(
  work: InTurns<Result>,
  most: number,
): { readonly result: Result } | undefined {
  for (let handled = 0; handled < most; ) {
    const { done, value } = work.next();
    if (done === true) return { result: value };
    handled += value;
  }
  return undefined;
}
