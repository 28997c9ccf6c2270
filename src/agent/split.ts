export interface Splitting<Unit, Rejection> {
  /** Tries all of them in one transaction; gives why it failed. */
  readonly attempt: (units: readonly Unit[]) => Promise<Rejection | undefined>;
  /** The unit that caused it, if the error names one. */
  readonly culpritOf: (rejection: Rejection, units: readonly Unit[]) => Unit | undefined;
  /** The unit was rejected on its own. */
  readonly reject: (unit: Unit, rejection: Rejection) => void;
  /**
   * After this many failures in a row, probe one distant unit; if it fails too, stop: the whole
   * plane fails.
   */
  readonly maxFailuresInARow: number;
  readonly signal: AbortSignal;
}

/** Every attempt failed: the units are not the cause. */
export interface TotalFailure<Unit, Rejection> {
  readonly rejection: Rejection;
  /** Neither done nor found to be the cause. */
  readonly rest: readonly Unit[];
}

/**
 * Applies all units that can be applied, and finds the others: a named culprit is set aside, an
 * unnamed one is found by bisection. When every attempt fails it stops after a few, so that a
 * kernel that rejects everything does not get hundreds of calls.
 */
export async function splitUntilDone<Unit, Rejection>(
  units: readonly Unit[],
  how: Splitting<Unit, Rejection>,
): Promise<TotalFailure<Unit, Rejection> | undefined> {
  const parts: (readonly Unit[])[] = [units];
  let failuresInARow = 0;
  while (parts.length > 0 && !how.signal.aborted) {
    const isProbe = failuresInARow >= how.maxFailuresInARow;
    const part = isProbe ? takeFarthest(parts) : (parts.pop() as readonly Unit[]);
    const rejection = await how.attempt(part);
    failuresInARow = rejection === undefined ? 0 : failuresInARow + 1;
    if (rejection === undefined) continue;
    parts.push(...narrowDown(part, rejection, how));
    if (isProbe) return { rejection, rest: parts.reverse().flat() };
  }
  return undefined;
}

/** The remaining parts of a part that failed; the last is attempted first. */
function narrowDown<Unit, Rejection>(
  part: readonly Unit[],
  rejection: Rejection,
  how: Splitting<Unit, Rejection>,
): (readonly Unit[])[] {
  const [only] = part;
  const culprit = part.length === 1 ? only : how.culpritOf(rejection, part);
  if (culprit !== undefined) {
    how.reject(culprit, rejection);
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
