/** One metric of a /metrics page: what a dashboard or an alert depends on. */
export interface MetricFamily {
  readonly name: string;
  /** `counter`, `gauge`, `histogram`, `summary`. */
  readonly type: string;
  /** Names, sorted, of all series together; without `le`. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, in ascending order. */
  readonly buckets: readonly number[];
}

const TYPE = /^# TYPE (\S+) (\S+)$/;
const SERIES = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const SUFFIX = /_(?:bucket|sum|count)$/;

interface Draft {
  readonly type: string;
  readonly labels: Set<string>;
  readonly buckets: Set<number>;
  hasSeries: boolean;
}

/** By name; a metric without a series is left out: no query can return it. */
export function readFamilies(text: string): ReadonlyMap<string, MetricFamily> {
  const drafts = new Map<string, Draft>();
  for (const line of text.split('\n')) {
    const [, named, type = ''] = TYPE.exec(line) ?? [];
    if (named !== undefined) {
      drafts.set(named, { type, labels: new Set(), buckets: new Set(), hasSeries: false });
      continue;
    }
    const [, series = '', labels = ''] = SERIES.exec(line) ?? [];
    const draft = drafts.get(series) ?? drafts.get(series.replace(SUFFIX, ''));
    if (draft) readLabels(labels, draft);
  }
  const families = [...drafts].flatMap(([name, draft]) => {
    if (!draft.hasSeries) return [];
    const labels = [...draft.labels].sort();
    const buckets = [...draft.buckets].sort((a, b) => a - b);
    return [[name, { name, type: draft.type, labels, buckets }] as const];
  });
  return new Map(families);
}

function readLabels(text: string, draft: Draft): void {
  draft.hasSeries = true;
  for (const [, name = '', value = ''] of text.matchAll(LABEL)) {
    if (name === 'le')
      draft.buckets.add(value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
    else if (!(draft.type === 'summary' && name === 'quantile')) draft.labels.add(name);
  }
}
