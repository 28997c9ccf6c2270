import type { Outcome } from './outcome.ts';

type Answered = Extract<Outcome, { kind: 'answered' }>;

/** Undefined when each pod answered as often as wanted, and no other did. */
export function wrongTimes(
  wanted: Readonly<Record<string, number>>,
  outcomes: readonly Outcome[],
): string | undefined {
  const answered = allAnswered(outcomes);
  if (typeof answered === 'string') return answered;
  const seen = timesBy(answered);
  const names = new Set([...Object.keys(wanted), ...seen.keys()]);
  const wrong = [...names].find((pod) => (seen.get(pod) ?? 0) !== (wanted[pod] ?? 0));
  return wrong && `${wrong} answered ${seen.get(wrong) ?? 0} times`;
}

/** The same where it does not matter which pod has which count. */
export function wrongCounts(
  wanted: { readonly answeredCounts: readonly number[]; readonly by: readonly string[] },
  outcomes: readonly Outcome[],
): string | undefined {
  const answered = allAnswered(outcomes);
  if (typeof answered === 'string') return answered;
  const seen = timesBy(answered);
  const extra = [...seen.keys()].find((pod) => !wanted.by.includes(pod));
  if (extra !== undefined) return `${extra} should not have answered`;
  const counts = wanted.by.map((pod) => seen.get(pod) ?? 0);
  const descending = (values: readonly number[]): string =>
    values.toSorted((a, b) => b - a).join(', ');
  if (descending(counts) === descending(wanted.answeredCounts)) return undefined;
  return `they answered ${descending(counts)} times`;
}

export function notStickyBySource(
  pods: readonly string[],
  outcomes: readonly Outcome[],
): string | undefined {
  const answered = allAnswered(outcomes);
  if (typeof answered === 'string') return answered;
  const met = sourcesOf(answered);
  const unsteady = answered.find(({ source, by }) => met.get(source) !== by);
  if (unsteady) return `${unsteady.source} met more than one pod`;
  const seen = new Set(met.values());
  const missing = pods.filter((pod) => !seen.has(pod));
  if (missing.length > 0) return `${missing.join(', ')} never answered`;
  const extra = [...seen].find((pod) => !pods.includes(pod));
  return extra && `${extra} should not have answered`;
}

/** Compares whom each source meets now with whom it met before a pod was lost. */
export function notKept(
  wanted: { readonly lost: string; readonly moved: number },
  noted: ReadonlyMap<string, string>,
  outcomes: readonly Outcome[],
): string | undefined {
  const answered = allAnswered(outcomes);
  if (typeof answered === 'string') return answered;
  const met = sourcesOf(answered);
  const again = [...met].filter(([source]) => noted.has(source));
  if (again.length !== noted.size) return 'not all sources of the note were asked again';
  const stayed = again.find(([, by]) => by === wanted.lost);
  if (stayed) return `${stayed[0]} still meets ${wanted.lost}`;
  const others = again.filter(([source]) => noted.get(source) !== wanted.lost);
  if (others.length === again.length) return `no source had met ${wanted.lost}`;
  const moved = others.filter(([source, by]) => noted.get(source) !== by);
  if (moved.length <= wanted.moved * others.length) return undefined;
  return `${moved.length} of ${others.length} other sources moved`;
}

/** Which pod answered each source address, the last one where there were several. */
export function sourcesOf(outcomes: readonly Outcome[]): Map<string, string> {
  return new Map(
    outcomes.flatMap((outcome) =>
      outcome.kind === 'answered' ? [[outcome.source, outcome.by] as const] : [],
    ),
  );
}

function allAnswered(outcomes: readonly Outcome[]): Answered[] | string {
  const answered = outcomes.filter((outcome) => outcome.kind === 'answered');
  return answered.length === outcomes.length ? answered : 'some had no answer';
}

function timesBy(answered: readonly Answered[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { by } of answered) times.set(by, (times.get(by) ?? 0) + 1);
  return times;
}
