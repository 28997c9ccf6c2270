export interface Splitting<Unit, Refusal> {
  /** Tries all of them in one transaction; gives why it failed. */
  readonly attempt: (units: readonly Unit[]) => Promise<Refusal | undefined>;
  /** The unit that caused it, if the error names one. */
  readonly culpritOf: (refusal: Refusal, units: readonly Unit[]) => Unit | undefined;
  /** The unit was rejected on its own. */
  readonly refuse: (unit: Unit, refusal: Refusal) => void;
  /**
   * After this many failures in a row, probe one distant unit; if it fails too, stop: the whole
   * plane fails.
   */
  readonly maxFailuresInARow: number;
  readonly signal: AbortSignal;
}

/** Every attempt failed: the units are not the cause. */
export interface TotalFailure<Unit, Refusal> {
  readonly refusal: Refusal;
  /** Neither done nor found to be the cause. */
  readonly rest: readonly Unit[];
}

/**
 * Applies all units that can be applied, and finds the others: a named culprit is set aside, an
 * unnamed one is found by bisection. When every attempt fails it stops after a few, so that a
 * kernel that rejects everything does not get hundreds of calls.
 */
export async function splitUntilDone<Unit, Refusal>(
  units: readonly Unit[],
  how: Splitting<Unit, Refusal>,
): Promise<TotalFailure<Unit, Refusal> | undefined> {
  const parts: (readonly Unit[])[] = [units];
  let failuresInARow = 0;
  while (parts.length > 0 && !how.signal.aborted) {
    const isProbe = failuresInARow >= how.maxFailuresInARow;
    const part = isProbe ? takeFarthest(parts) : (parts.pop() as readonly Unit[]);
    const refusal = await how.attempt(part);
    failuresInARow = refusal === undefined ? 0 : failuresInARow + 1;
    if (refusal === undefined) continue;
    parts.push(...narrowDown(part, refusal, how));
    if (isProbe) return { refusal, rest: parts.reverse().flat() };
  }
  return undefined;
}

/** The remaining parts of a part that failed; the last is attempted first. */
function narrowDown<Unit, Refusal>(
  part: readonly Unit[],
  refusal: Refusal,
  how: Splitting<Unit, Refusal>,
): (readonly Unit[])[] {
  const [only] = part;
  const culprit = part.length === 1 ? only : how.culpritOf(refusal, part);
  if (culprit !== undefined) {
    how.refuse(culprit, refusal);
    const rest = part.filter((unit) => unit !== culprit);
    return rest.length === 0 ? [] : [rest];
  }
  const half = Math.ceil(part.length / 2);
  return [part.slice(half), part.slice(0, half)];
}

/** One unit, as far as can be from those that failed. */
function takeFarthest<Unit>(parts: (readonly Unit[])[]): readonly Unit[] {
  const [last = []] = parts;
  if (last.length > 1) parts[0] = last.slice(0, -1);
  else parts.shift();
  return last.slice(-1);
}
